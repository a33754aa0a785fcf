// Values of variables: hyperslabs, conversion between external and memory types, fill values
// (spec/format.md, "Values"), and how values that are written anew are stored. Pure functions, and
// one reader over any ByteSource.
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

// What a caller's array holds. kText goes only with Type::kChar, and Type::kChar only with kText.
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

// What ConstArray and MutableArray are made of: numbers or text (char) one behind the other, in
// memory that outlives the array. A temporary vector is none.
template <class Range>
concept ArrayOfValues = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::ranges::borrowed_range<Range> && std::is_arithmetic_v<std::ranges::range_value_t<Range>>;

// Values that a call takes: their type and their bytes, which it does not own.
class ConstArray {
 public:
  template <ArrayOfValues Range>
  ConstArray(Range&& values)
      : ConstArray(memory_type_of<std::ranges::range_value_t<Range>>(),
                   std::as_bytes(std::span(std::ranges::data(values), std::ranges::size(values)))) {
  }
  // bytes: of whole values, without alignment.
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

// Room for values that a call fills, in the same way.
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

// A regular selection of a variable's elements; the three have the variable's rank. An empty
// stride is 1 everywhere. count 0 in any dimension selects nothing.
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

// kDamaged: the product of lengths does not fit, begin lies in the header.
NMB_EXPORT Result<VariableShape> shape_of(const Metadata& metadata, const ClassicLayout& layout,
                                          VarId variable, std::uint64_t records);

// kUsage: the ranks differ, a stride is 0, or the selection leaves the shape (for record variables,
// `may_grow` allows it in the first dimension).
NMB_EXPORT Status check_hyperslab(const VariableShape& shape, const Hyperslab& slab,
                                  bool may_grow = false);
// Elements selected.
NMB_EXPORT std::uint64_t element_count(const Hyperslab& slab);
// kUsage unless the hyperslab has as many elements.
NMB_EXPORT Status check_count(const Hyperslab& slab, std::uint64_t values);

// Calls visit(extent_offset, element_index, elements) for each longest run of elements that are
// adjacent in the extent and in the selection, in row-major order (where a dimension has a stride,
// elements of different rows that happen to touch are different runs). Stops at the first failure.
// `slab` must have passed check_hyperslab.
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
// - bytes of kByte and kUInt8 stand for each other as they are: without a range error in CDF-1
//   and CDF-2, where kByte has no sign of its own; in CDF-5 values above 127 are out of range.
// Neither array needs an alignment; they do not overlap. kChar/kText pairing is the caller's check
// (kUsage from the functions below).
NMB_EXPORT std::uint64_t convert_from_external(Type type, const std::byte* from,
                                               std::uint64_t count, MemoryType memory, void* to,
                                               Kind kind = Kind::kCdf5);
NMB_EXPORT std::uint64_t convert_to_external(MemoryType memory, const void* from,
                                             std::uint64_t count, Type type, std::byte* to,
                                             Kind kind = Kind::kCdf5);

// The fill value of a variable in external form (type_size bytes): its _FillValue attribute when
// that has the variable's type and one value, else netCDF's default of the type.
NMB_EXPORT std::vector<std::byte> fill_value(const Metadata& metadata, VarId variable);
// The default of a type, in external form; of a block's own types nothing is.
NMB_EXPORT std::vector<std::byte> default_fill_value(Type type);

// Writes to `out` the fill pattern of extent bytes [offset, offset + out.size()): the fill value of
// the variable each byte belongs to, zero for padding and gaps. Made from the definitions by the
// first call; others cost the bytes written and the logarithm of the number of variables. Where
// variables overlap, a byte belongs to the one that begins last. Thread-safe.
class FillPattern {
 public:
  // metadata: outlives it.
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

// The values of a variable as one array, wherever and however they are stored.
struct ValueArray {
  VariableShape shape;
  // A classic type, whose external form the bytes are, or one of the block's own, which differs
  // from all classic ones by more than the order of bytes.
  Type type = Type::kByte;
  std::shared_ptr<const ByteSource> source;
  // What values of variable length in `source` lead to: offsets from here; else nullptr.
  std::shared_ptr<const ByteSource> region;
};
// extent: of the block, kept. kUnsupported: chunks with filters that are not decoded here (deflate,
// shuffle, fletcher32 and zstd are), values in other files. The source reads as the extent does;
// kDamaged also for chunks that do not decode (R-XC-1).
NMB_EXPORT Result<ValueArray> value_array(const Metadata& metadata, const ClassicLayout& layout,
                                          std::uint64_t records, VarId variable,
                                          std::shared_ptr<const ByteSource> extent);

// Reads a hyperslab of an array, as read_hyperslab. name: of the variable, for messages.
// kUnsupported: values that are neither numbers nor text.
NMB_EXPORT Status read_array(const ValueArray& array, std::string_view name, const Hyperslab& slab,
                             MutableArray out, Kind kind = Kind::kCdf5);

// Reads a hyperslab of `variable` from `extent` (the values, header left off), converting to the
// type of `out`. Buffers of at most 1 MiB; a hole in the selection of at most 4 KiB is read over
// rather than sought over. kUsage: the selection does not fit the shape, `out` has not
// element_count(slab) values, or text meets numbers. kRange: some values did not fit, all are
// converted. Thread-safe as the source is.
NMB_EXPORT Status read_hyperslab(const Metadata& metadata, const VariableShape& shape,
                                 VarId variable, const ByteSource& extent, const Hyperslab& slab,
                                 MutableArray out, Kind kind = Kind::kCdf5);

// Values that are to be put or read together with others, when they are waited for (Writer::iput,
// GetRequests::iget). Of one writer or one GetRequests, never given twice.
using RequestId = std::uint64_t;

// kKeep: what the values had.
enum class ValueCodec : std::uint8_t { kKeep, kNone, kDeflate, kZstd };

// How values are to be stored that are written anew.
struct Compression {
  ValueCodec codec = ValueCodec::kKeep;
  int level = 0;
  // Bytes of one significance lie together ahead of the codec. Chunks that had it keep it.
  bool shuffle = false;
  // Lengths of chunks along dimensions of these names; others are as they were, or as many as make
  // chunks of about 1 MiB.
  struct ChunkLength {
    std::string dimension;
    std::uint64_t length = 0;  // at least 1
  };
  std::vector<ChunkLength> chunk;

  // Codec and level of "none", "deflate", "zstd", "deflate:1" to 9 (without: 6), "zstd:1" to 19
  // (1). kUsage.
  NMB_EXPORT Status set_codec(std::string_view text);
  // "DIM:LEN,...". kUsage.
  NMB_EXPORT Status set_chunk(std::string_view text);
};

}  // namespace nmb
