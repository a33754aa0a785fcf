// Values of variables: hyperslabs, conversion between external and memory types, fill values
// (spec/format.md, section 10), and how newly written values are stored.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/classic.h"
#include "model/metadata.h"
#include "nmb/array.h"
#include "wire/bytes.h"
#include "wire/codecs.h"
#include "wire/failure.h"

namespace nmb {

// Lengths of a variable's dimensions, and positions of its elements. For a record variable, the
// first length is the record count.
struct VariableShape {
  std::vector<std::uint64_t> lengths;
  std::uint64_t element_size = 0;
  std::uint64_t begin = 0;  // offset of the first element in the extent
  // Distance between the records of a record variable, in bytes; 0 for other variables.
  std::uint64_t record_size = 0;

  std::uint64_t elements() const {
    std::uint64_t out = 1;
    for (const std::uint64_t length : lengths) out *= length;
    return out;
  }
};

// Returns the shape of a variable. Errors: kDamaged if the product of the lengths is too large, or
// if the variable begins inside the header.
NMB_EXPORT Result<VariableShape> shape_of(const Metadata& metadata, const ClassicLayout& layout,
                                          VarId variable, std::uint64_t records);

// Checks a hyperslab against a shape. Fails with kUsage if the numbers of dimensions differ, a
// stride is 0, or the selection exceeds the shape. With `may_grow`, the selection may exceed the
// record count of a record variable.
NMB_EXPORT Status check_hyperslab(const VariableShape& shape, const Hyperslab& slab,
                                  bool may_grow = false);
// Returns the number of selected elements.
NMB_EXPORT std::uint64_t element_count(const Hyperslab& slab);
// Fails with kUsage unless the hyperslab has `values` elements.
NMB_EXPORT Status check_count(std::uint64_t values, std::uint64_t expected);
// Fails with kUsage if the values are a text that is a null pointer. object, name: for the message.
NMB_EXPORT Status check_not_null(ConstArray values, std::string_view object, std::string_view name);

// Calls visit(extent_offset, element_index, elements), in row-major order, for each run of elements
// that are adjacent both in the extent and in the selection. Runs are as long as possible. If a
// dimension has a stride, a run does not extend beyond the end of a row. Stops if visit() fails.
// `slab` must have passed check_hyperslab().
NMB_EXPORT Status
for_each_run(const VariableShape& shape, const Hyperslab& slab,
             const std::function<Status(std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

// Converts `count` values. Returns how many values were out of the range of the target type. The
// rules are those of netCDF-C. Where C leaves the result undefined, the rules below define it.
//
// A value is in range if, before truncation, it lies between the smallest and the largest value of
// the target type. For example, -0.5 is out of the range of unsigned types, and 127.5 is out of the
// range of the signed 8-bit type. Infinity is out of the range of float if it is converted from
// double. NaN is in range only of floating-point types. In three cases, netCDF-C differs. If NaN is
// converted to an integer type, netCDF-C does not report it. If 2^63 or 2^64 is converted to a
// 64-bit integer type, netCDF-C does not report it. If infinity is put from float into a double
// variable, netCDF-C reports it.
//
// If a value is out of range, the result depends on the types. An integer converted to an integer
// type keeps its low bits (as in a C cast). A double converted to float becomes infinite. A
// floating-point value converted to an integer type becomes the nearest value of that type; NaN
// becomes the lowest value.
//
// A conversion between kByte and kUInt8 copies bytes unchanged. In CDF-1 and CDF-2, all values of
// this conversion are in range, because kByte is neither signed nor unsigned there. In CDF-5,
// values above 127 are out of range in this conversion.
//
// The arrays need not be aligned and must not overlap. The caller must combine kChar with kText;
// the functions below check this (kUsage).
NMB_EXPORT std::uint64_t convert_from_external(Type type, const std::byte* from,
                                               std::uint64_t count, MemoryType memory, void* to,
                                               Kind kind = Kind::kCdf5);
NMB_EXPORT std::uint64_t convert_to_external(MemoryType memory, const void* from,
                                             std::uint64_t count, Type type, std::byte* to,
                                             Kind kind = Kind::kCdf5);

// Returns the fill value of a variable of a classic type in external form (type_size() bytes). This
// is the _FillValue attribute if it has the variable's type and one value; otherwise it is netCDF's
// default for the type. Empty for a block's own types.
NMB_EXPORT std::vector<std::byte> fill_value(const Metadata& metadata, VarId variable);
// Returns the fill value that netCDF programs show, in external form of the classic type that the
// values have: the _FillValue attribute if it has one value of the variable's type, in either byte
// order; otherwise netCDF's default for the type. Empty if the values have no classic type.
NMB_EXPORT std::vector<std::byte> shown_fill_value(const Metadata& metadata, VarId variable);
// Returns netCDF's default fill value of a type in external form; empty for a block's own types.
NMB_EXPORT std::vector<std::byte> default_fill_value(Type type);

// The fill pattern of an extent: all elements of a variable have its fill value; padding, gaps and
// bytes of regions are zero. A variable of a type that the block defines has the fill value that
// the HDF5 file set, or zero. The function fill() writes the extent bytes [offset, offset +
// out.size()) to `out`. The first call of fill() builds the pattern from the definitions. The time
// of later calls grows with the number of bytes, and with the logarithm of the number of variables.
// Where variables overlap, a byte belongs to the variable that begins last. Thread-safe.
class FillPattern {
 public:
  // `metadata` must outlive this object.
  NMB_EXPORT FillPattern(const Metadata& metadata, const ClassicLayout& layout);
  NMB_EXPORT void fill(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  struct Slot {
    std::uint64_t begin, end;  // offsets in the extent (fixed-size variables) or in the record
    std::vector<std::byte> value;
  };
  void make() const;
  static void close(std::vector<Slot>* slots, std::uint64_t limit);
  static void fill_slots(const std::vector<Slot>& slots, std::uint64_t offset,
                         std::span<std::byte> out);

  const Metadata& metadata_;
  ClassicLayout layout_;
  mutable std::once_flag made_;
  mutable std::vector<Slot> fixed_;   // fixed-size variables, sorted by begin, without overlap
  mutable std::vector<Slot> record_;  // variables within one record, sorted by begin, without
                                      // overlap
  std::uint64_t record_begin_ = 0;    // in the extent
  std::uint64_t record_size_ = 0;
};

// Returns the names of the filters with which NMB makes chunks, for messages: "A, B or C".
NMB_EXPORT std::string chunk_filters_text();

// A variable's values as one plain array, for any form in which they are stored.
struct ValueArray {
  VariableShape shape;
  // Type of the values. If this is a classic type, the bytes are in the external form of the type.
  // If the variable's own type differs from a classic type only in byte order, `type` is the
  // classic type.
  Type type = Type::kByte;
  std::shared_ptr<const ByteSource> source;
  // For values of variable length: the bytes to which the offsets in `source` refer. For other
  // values: nullptr.
  std::shared_ptr<const ByteSource> region;
};
// Returns the values of a variable as an array. The result keeps `extent`, which has the block's
// values. Errors: kUnsupported if values are in other files, or if chunks have a filter that
// neither NMB nor HDF5 decodes. Reading from the result fails if reading from the extent fails. It
// fails with kDamaged if a chunk cannot be decoded (R-XC-1).
NMB_EXPORT Result<ValueArray> value_array(const Metadata& metadata, const ClassicLayout& layout,
                                          std::uint64_t records, VarId variable,
                                          std::shared_ptr<const ByteSource> extent);

// Reads a hyperslab of an array, as read_hyperslab() does. `name` is the variable's name, for
// messages. Errors: those of read_hyperslab(), and kUnsupported if the values are neither numbers
// nor text.
NMB_EXPORT Status read_array(const ValueArray& array, std::string_view name, const Hyperslab& slab,
                             MutableArray out, Kind kind = Kind::kCdf5);

// Reads a hyperslab of `variable` from `extent` (the values without the header), and converts the
// values to the type of `out`. Buffers take at most 1 MiB. Gaps of at most 4 KiB in the selection
// are read instead of skipped. Errors: kUsage if the selection does not fit the shape, `out` does
// not have element_count(slab) values, or text is combined with numbers; kRange if some values do
// not fit the type of `out` (all values are converted). Thread-safe if `extent` is thread-safe.
NMB_EXPORT Status read_hyperslab(const Metadata& metadata, const VariableShape& shape,
                                 VarId variable, const ByteSource& extent, const Hyperslab& slab,
                                 MutableArray out, Kind kind = Kind::kCdf5);

// Identifies a request to put or read values (FileWriter::iput, GetRequests::iget). Several
// requests are completed together. An ID is valid only for the Writer or GetRequests that returned
// it. The same Writer or GetRequests never returns an ID twice.
using RequestId = std::uint64_t;

// How newly written values are stored.
struct Compression {
  std::optional<PieceCodec> codec{};  // nullopt means that the values keep their codec
  int level = 0;
  // Whether bytes are shuffled before compression. Chunks that are already shuffled stay shuffled.
  bool shuffle = false;
  // Chunk length for a named dimension. Other dimensions keep their chunk lengths. If a variable
  // has no chunks, these dimensions get lengths that give chunks of about 1 MiB.
  struct ChunkLength {
    std::string dimension;
    std::uint64_t length = 0;  // at least 1
    // Name of a variable. If empty, the length applies to all variables that have the dimension and
    // for which no length is given by name.
    std::string variable{};
    bool is_for(std::string_view name) const { return variable.empty() || variable == name; }
    // Returns "DIM:LEN" or "VAR:DIM:LEN".
    NMB_EXPORT std::string text() const;
    // Returns the name that messages use for the object to which the length applies.
    NMB_EXPORT std::string object() const;
  };
  std::vector<ChunkLength> chunk;

  // Returns the texts that set_codec() takes, for example "none or deflate[:1-9]".
  NMB_EXPORT static std::string codec_choices();
  // Sets codec and level from `text`, which is the name of a codec (kPieceCodecs) or NAME:LEVEL.
  // Errors: kUsage.
  NMB_EXPORT Status set_codec(std::string_view text);
  // Sets `chunk` from `text`, which has the form "[VAR:]DIM:LEN,...". In `chunk`, lengths for
  // single variables come before lengths for all variables. Errors: kUsage.
  NMB_EXPORT Status set_chunk(std::string_view text);
};

}  // namespace nmb
