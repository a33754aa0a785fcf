// Values of variables: hyperslabs, conversion between external and memory types, fill values
// (spec/format.md, "Values"), and how newly written values are stored. Pure functions, and one
// reader for any ByteSource.
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

#include "nmb/bytes.h"
#include "nmb/classic.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

// The element type of a caller's array. kText pairs only with Type::kChar, and Type::kChar only
// with kText.
enum class MemoryType : std::uint8_t {
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat,
  kDouble,
  kText
};

constexpr std::size_t memory_type_size(MemoryType type) {
  constexpr std::uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1};
  return sizes[static_cast<std::size_t>(type)];
}

template <class T>
constexpr MemoryType memory_type_of() {
  if constexpr (std::is_same_v<T, char>)
    return MemoryType::kText;
  else if constexpr (std::is_same_v<T, float>)
    return MemoryType::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return MemoryType::kDouble;
  else {
    static_assert(std::is_integral_v<T>, "an arithmetic type");
    constexpr bool s = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return s ? MemoryType::kInt8 : MemoryType::kUInt8;
    else if constexpr (sizeof(T) == 2)
      return s ? MemoryType::kInt16 : MemoryType::kUInt16;
    else if constexpr (sizeof(T) == 4)
      return s ? MemoryType::kInt32 : MemoryType::kUInt32;
    else
      return s ? MemoryType::kInt64 : MemoryType::kUInt64;
  }
}

// Ranges from which ConstArray and MutableArray are made: contiguous numbers or text (char) in
// memory that outlives the array. A temporary vector is not allowed.
template <class Range>
concept ArrayOfValues = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::ranges::borrowed_range<Range> && std::is_arithmetic_v<std::ranges::range_value_t<Range>>;

// Values to pass to a call: their type and their bytes. Does not own the bytes.
class ConstArray {
 public:
  template <ArrayOfValues Range>
  ConstArray(Range&& values)
      : ConstArray(memory_type_of<std::ranges::range_value_t<Range>>(),
                   std::as_bytes(std::span(std::ranges::data(values), std::ranges::size(values)))) {
  }
  // bytes: of whole values; need not be aligned.
  ConstArray(MemoryType type, std::span<const std::byte> bytes) : type_(type), bytes_(bytes) {
    assert(bytes.size() % memory_type_size(type) == 0);
  }
  MemoryType type() const { return type_; }
  std::uint64_t count() const { return bytes_.size() / memory_type_size(type_); }
  const std::byte* data() const { return bytes_.data(); }

 private:
  MemoryType type_;
  std::span<const std::byte> bytes_;
};

// Memory for values that a call fills in: their type and their bytes. Does not own the bytes.
class MutableArray {
 public:
  template <ArrayOfValues Range>
  MutableArray(Range&& values)
      : MutableArray(memory_type_of<std::ranges::range_value_t<Range>>(),
                     std::as_writable_bytes(
                         std::span(std::ranges::data(values), std::ranges::size(values)))) {}
  MutableArray(MemoryType type, std::span<std::byte> bytes) : type_(type), bytes_(bytes) {
    assert(bytes.size() % memory_type_size(type) == 0);
  }
  MemoryType type() const { return type_; }
  std::uint64_t count() const { return bytes_.size() / memory_type_size(type_); }
  std::byte* data() const { return bytes_.data(); }

 private:
  MemoryType type_;
  std::span<std::byte> bytes_;
};

// A regular selection of a variable's elements. start, count and stride have one number per
// dimension. An empty stride means 1 in all dimensions. A count of 0 in any dimension selects
// nothing.
struct Hyperslab {
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  std::vector<std::uint64_t> stride;
};

// Where a variable's elements lie. The shape's first length is the record count for a record
// variable.
struct VariableShape {
  std::vector<std::uint64_t> lengths;
  std::uint64_t element_size = 0;
  std::uint64_t begin = 0;        // of the first element, from the start of the values (the extent)
  std::uint64_t record_size = 0;  // distance between records in bytes; 0: not a record variable
};

// Returns the shape of a variable. kDamaged: the product of its lengths does not fit, or its begin
// lies in the header.
NMB_EXPORT Result<VariableShape> shape_of(const Metadata& metadata, const ClassicLayout& layout,
                                          VarId variable, std::uint64_t records);

// Checks a hyperslab against a shape. kUsage: the ranks differ, a stride is 0, or the selection
// exceeds the shape (with `may_grow`, a record variable's selection may exceed the first length).
NMB_EXPORT Status check_hyperslab(const VariableShape& shape, const Hyperslab& slab,
                                  bool may_grow = false);
// Returns the number of selected elements.
NMB_EXPORT std::uint64_t element_count(const Hyperslab& slab);
// kUsage unless the hyperslab has `values` elements.
NMB_EXPORT Status check_count(const Hyperslab& slab, std::uint64_t values);

// Calls visit(extent_offset, element_index, elements), in row-major order, for each longest run of
// elements that are adjacent in both the extent and the selection. If a dimension has a stride,
// runs end at the end of a row. Stops at the first failure. `slab` must have passed
// check_hyperslab.
NMB_EXPORT Status
for_each_run(const VariableShape& shape, const Hyperslab& slab,
             const std::function<Status(std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

// Converts `count` values; returns how many were out of the target's range. The rules are
// netCDF-C's, made definite where C leaves them undefined:
// - a value is in range when it lies between the target's smallest and largest value, before it is
//   truncated: -0.5 is out of the range of an unsigned type, 127.5 of an 8-bit one. Infinity is out
//   of the range of float when it comes from double. NaN is in range of the floating types only.
//   (netCDF-C differs in not reporting NaN to integers, nor 2^63 and 2^64 to the 64-bit integers,
//   and in reporting infinity put from float into double.)
// - an integer out of range of an integer type keeps its low bits (the C cast), a double out of the
//   range of float becomes infinite, a floating value out of the range of an integer type becomes
//   the end of the range on its side, NaN the lower end;
// - bytes of kByte and kUInt8 are copied unchanged: without a range error in CDF-1
//   and CDF-2, where kByte has no sign of its own; in CDF-5 values above 127 are out of range.
// The arrays need no alignment and must not overlap. The caller must pair kChar with kText; the
// functions below check it (kUsage).
NMB_EXPORT std::uint64_t convert_from_external(Type type, const std::byte* from,
                                               std::uint64_t count, MemoryType memory, void* to,
                                               Kind kind = Kind::kCdf5);
NMB_EXPORT std::uint64_t convert_to_external(MemoryType memory, const void* from,
                                             std::uint64_t count, Type type, std::byte* to,
                                             Kind kind = Kind::kCdf5);

// Returns a variable's fill value in external form (type_size bytes): its _FillValue attribute if
// that has the variable's type and one value, else netCDF's default for the type.
NMB_EXPORT std::vector<std::byte> fill_value(const Metadata& metadata, VarId variable);
// Returns netCDF's default fill value of a type in external form; empty for a block's own types.
NMB_EXPORT std::vector<std::byte> default_fill_value(Type type);

// The fill pattern of an extent: each byte of a variable has its fill value, padding and gaps are
// zero. fill() writes extent bytes [offset, offset + out.size()) to `out`. The first call builds
// the pattern from the definitions; later calls take time for the bytes written and the logarithm
// of the number of variables. Where variables overlap, a byte belongs to the one that begins last.
// Thread-safe.
class FillPattern {
 public:
  // metadata: must outlive this.
  NMB_EXPORT FillPattern(const Metadata& metadata, const ClassicLayout& layout);
  NMB_EXPORT void fill(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  struct Slot {
    std::uint64_t begin, end;  // in the extent (fixed) or in the record
    std::array<std::byte, 8> value;
    std::size_t value_size;
  };
  void make() const;
  static void close(std::vector<Slot>* slots, std::uint64_t limit);
  static void fill_slots(const std::vector<Slot>& slots, std::uint64_t offset,
                         std::span<std::byte> out);

  const Metadata& metadata_;
  ClassicLayout layout_;
  mutable std::once_flag made_;
  mutable std::vector<Slot> fixed_;   // sorted by begin, without overlap
  mutable std::vector<Slot> record_;  // within one record, the same
  std::uint64_t record_begin_ = 0;    // in the extent
  std::uint64_t record_size_ = 0;
};

// A variable's values as one plain array, independent of how they are stored.
struct ValueArray {
  VariableShape shape;
  // A classic type, with the bytes in its external form; or one of the block's own types, if that
  // differs from every classic type by more than byte order.
  Type type = Type::kByte;
  std::shared_ptr<const ByteSource> source;
  // For values of variable length: the bytes that their offsets in `source` refer to. Else nullptr.
  std::shared_ptr<const ByteSource> region;
};
// Returns the values of a variable as an array. extent: the block's values; the result keeps it.
// kUnsupported: values in other files, or chunks with other filters than deflate, shuffle,
// fletcher32 and zstd. Reading the source fails as reading the extent does, and with kDamaged for
// chunks that cannot be decoded (R-XC-1).
NMB_EXPORT Result<ValueArray> value_array(const Metadata& metadata, const ClassicLayout& layout,
                                          std::uint64_t records, VarId variable,
                                          std::shared_ptr<const ByteSource> extent);

// Reads a hyperslab of an array, as read_hyperslab. name: the variable's name, for messages.
// kUnsupported: values that are neither numbers nor text.
NMB_EXPORT Status read_array(const ValueArray& array, std::string_view name, const Hyperslab& slab,
                             MutableArray out, Kind kind = Kind::kCdf5);

// Reads a hyperslab of `variable` from `extent` (the values without the header), converting to the
// type of `out`. Buffers take at most 1 MiB; gaps in the selection of at most 4 KiB are read rather
// than skipped. kUsage: the selection does not fit the shape, `out` does not have
// element_count(slab) values, or text is paired with numbers. kRange: some values did not fit; all
// are converted. As thread-safe as `extent`.
NMB_EXPORT Status read_hyperslab(const Metadata& metadata, const VariableShape& shape,
                                 VarId variable, const ByteSource& extent, const Hyperslab& slab,
                                 MutableArray out, Kind kind = Kind::kCdf5);

// Identifies a request to put or read values together with others (Writer::iput,
// GetRequests::iget). Valid for its writer or GetRequests only, which never uses an ID twice.
using RequestId = std::uint64_t;

// How newly written values are stored.
struct Compression {
  std::optional<PieceCodec> codec{};  // nullopt: the codec that the values have already
  int level = 0;
  // Shuffles bytes before compression. Chunks that were shuffled before stay shuffled.
  bool shuffle = false;
  // Chunk lengths for dimensions of these names. Other dimensions keep their chunk lengths, or get
  // lengths that make chunks of about 1 MiB.
  struct ChunkLength {
    std::string dimension;
    std::uint64_t length = 0;  // at least 1
    // "": all variables with the dimension for which no length is given by name.
    std::string variable{};
    bool is_for(std::string_view name) const { return variable.empty() || variable == name; }
    // Returns "DIM:LEN" or "VAR:DIM:LEN".
    NMB_EXPORT std::string text() const;
    // Returns the object that has the length, for messages.
    NMB_EXPORT std::string object() const;
  };
  std::vector<ChunkLength> chunk;

  // Sets codec and level from text: the name of a codec (kPieceCodecs), or NAME:LEVEL. kUsage.
  NMB_EXPORT Status set_codec(std::string_view text);
  // Sets `chunk` from "[VAR:]DIM:LEN,...". Lengths for single variables come first. kUsage.
  NMB_EXPORT Status set_chunk(std::string_view text);
};

}  // namespace nmb
