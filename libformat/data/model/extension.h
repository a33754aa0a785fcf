// Extension: the parts of a body of kind 6 that CDF-5 does not have (spec/extended.md, section 15).
// An Extension contains further types, unlimited dimensions, and the storage of variables whose
// values are not a plain array. An Extension also contains the data for writing the block back as
// HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// HDF5 datatype classes, with HDF5's numbers.
enum class TypeClass : std::uint16_t {
  kInteger = 0,
  kFloat = 1,
  kTime = 2,
  kString = 3,
  kBitfield = 4,
  kOpaque = 5,
  kCompound = 6,
  kReference = 7,
  kEnum = 8,
  kVlen = 9,
  kArray = 10,
};

enum class ByteOrder : std::uint8_t { kLittle = 0, kBig = 1, kVax = 2 };
enum class BitPadding : std::uint8_t { kZero = 0, kOne = 1, kBackground = 2 };
enum class CharacterSet : std::uint8_t { kAscii = 0, kUtf8 = 1 };
enum class StringPadding : std::uint8_t { kNullTerminated = 0, kNullPadded = 1, kSpacePadded = 2 };
enum class Normalization : std::uint8_t { kNone = 0, kMostSignificantSet = 1, kImplied = 2 };
enum class ReferenceKind : std::uint8_t { kObject = 0, kRegion = 1 };

// One type of the types section. Each class uses some of the fields; the other fields keep the
// default values below.
struct ExtendedType {
  TypeClass type_class = TypeClass::kInteger;
  // Number of bytes of a value. For a value of variable length (string, sequence, reference), the
  // number is kHeapValue.
  std::uint64_t size = 0;
  std::string name;  // path of a named type; empty if the type has no name

  // Integer, float, time, bitfield.
  ByteOrder order = ByteOrder::kLittle;
  bool is_signed = false;
  BitPadding low_padding = BitPadding::kZero, high_padding = BitPadding::kZero;
  std::uint32_t bit_offset = 0, precision = 0;
  // For floats: positions and sizes in bits.
  std::uint32_t sign_position = 0, exponent_position = 0, exponent_size = 0;
  std::uint32_t mantissa_position = 0, mantissa_size = 0;
  std::uint64_t exponent_bias = 0;
  Normalization normalization = Normalization::kNone;
  BitPadding inner_padding = BitPadding::kZero;
  // String.
  bool variable_length = false;
  CharacterSet character_set = CharacterSet::kAscii;
  StringPadding padding = StringPadding::kNullTerminated;
  // Opaque.
  std::string tag;
  // For compounds. The fields are usually in ascending order of offsets and do not overlap, but
  // another order and overlaps are allowed.
  struct Field {
    std::string name;
    std::uint64_t offset = 0;  // offset in bytes from the start of the value
    Type type = Type::kByte;
    bool operator==(const Field&) const = default;
  };
  std::vector<Field> fields;
  ReferenceKind reference = ReferenceKind::kObject;
  Type base = Type::kByte;  // enum, sequence, array
  // For enums: names of the members, and values of the members in the same order. Each value has
  // type `base`.
  std::vector<std::string> names;
  std::vector<std::byte> values;
  std::vector<std::uint64_t> lengths;  // for arrays: lengths of dimensions, slowest first

  bool operator==(const ExtendedType&) const = default;
};

// The block's own types, numbered from 0. Type number n has type code 256 + n. A type may be
// composed of classic types (big-endian) and of the block's earlier types.
class TypeTable {
 public:
  static constexpr std::uint32_t kFirst = 256;
  static constexpr std::uint32_t kMost = 65535 - kFirst;
  static constexpr std::uint64_t kHeapValue = 16;

  static constexpr bool is_extended(Type type) {
    return static_cast<std::uint32_t>(type) >= kFirst;
  }
  std::size_t size() const { return types_.size(); }
  bool has(Type type) const {
    return is_extended(type) ? static_cast<std::uint32_t>(type) - kFirst < types_.size()
                             : is_type(static_cast<std::uint32_t>(type));
  }
  const ExtendedType& operator[](std::size_t number) const { return types_[number]; }
  // `type` must be one of the block's own types, for which has() is true.
  const ExtendedType& at(Type type) const {
    return types_[static_cast<std::uint32_t>(type) - kFirst];
  }
  // Returns the number of bytes of a value of `type`, for which has() must be true.
  std::uint64_t value_size(Type type) const {
    return is_extended(type) ? at(type).size : type_size(type);
  }
  // Returns whether the values of a type refer to a heap. Values refer to a heap if they, or parts
  // of them, have variable length.
  bool needs_heap(Type type) const {
    return is_extended(type) && traits_[static_cast<std::uint32_t>(type) - kFirst].heap;
  }
  // Adds a type and returns its code. Errors: kDamaged if the type is invalid (with a message, but
  // without rule and offset); kLimit if there are too many types.
  NMB_EXPORT Result<Type> add(ExtendedType type);
  // Adds a type of another table, with the types that it contains, and returns its code. Types that
  // this table already has are not added again. Errors: kLimit.
  NMB_EXPORT Result<Type> add_from(const TypeTable& other, Type type);
  // Returns a table that has only the block's own type `type` and the types that it contains.
  // `type` is the last one. The tables of two types are equal if the types are equal. names:
  // whether the types keep their names.
  enum class Names : std::uint8_t { kKept, kDropped };
  NMB_EXPORT TypeTable only(Type type, Names names = Names::kKept) const;
  // Returns the code of the last type. There must be a type.
  Type last() const { return static_cast<Type>(kFirst + types_.size() - 1); }
  bool operator==(const TypeTable& other) const { return types_ == other.types_; }
  // Returns the name of a type for messages and listings: "int", "string(12)", "compound{x, y}".
  NMB_EXPORT std::string text(Type type) const;
  // Returns the classic type that differs from `type` only in the byte order of the values. Returns
  // nullopt if there is no such type. If `type` is a classic type, returns `type`.
  NMB_EXPORT std::optional<Type> classic(Type type) const;
  // Returns whether values of a type are little-endian, while values of its classic() type are
  // big-endian. The type must have a classic() type.
  bool is_swapped(Type type) const {
    return is_extended(type) && at(type).order == ByteOrder::kLittle && at(type).size > 1;
  }

 private:
  static constexpr std::uint32_t kMostDepth = 64;
  struct Traits {
    bool heap = false;
    std::uint32_t depth = 1;  // depth of nested types
  };
  NMB_EXPORT Status check(const ExtendedType& type) const;
  std::vector<ExtendedType> types_;
  std::vector<Traits> traits_;
};

// Returns a type in the encoding of the types section. Equal types have equal bytes.
NMB_EXPORT std::vector<std::byte> encode_type(const ExtendedType& type);

// The form in which a variable's region of the extent stores values that are not a plain array.
enum class StorageKind : std::uint16_t {
  kHeap = 1,     // the array, then the bytes to which the array's values of variable length refer
  kChunked = 2,  // a table of chunks, then the chunks
  kNone = 3,     // no bytes; values are in external files, or the data set is virtual
};

// A filter of a chunk. `id` is the registered number of the filter in HDF5 (1 deflate, 2 shuffle, 3
// fletcher32, 32015 zstd, ...).
struct Filter {
  std::uint32_t id = 0;
  std::uint32_t flags = 0;  // if bit 0 is set, the filter is optional
  std::string name;
  std::vector<std::uint32_t> parameters;
  bool operator==(const Filter&) const = default;
};

// One entry of the storage section.
struct Storage {
  VarId variable = 0;
  StorageKind kind = StorageKind::kHeap;
  std::uint64_t region_length = 0;   // number of bytes of the variable's region
  std::vector<std::uint64_t> chunk;  // lengths of a chunk, one for each dimension
  std::vector<Filter> filters;       // filters in the order in which a writer applies them
};

// A row of a chunk table. The rows are in row-major order of the chunks' positions. Positions count
// from 0 in each dimension.
struct ChunkRow {
  static constexpr std::uint64_t kLength = 24;
  std::uint64_t offset = 0;         // offset of the chunk from the start of the variable's region
  std::uint64_t stored_length = 0;  // 0 if the chunk was never written and reads as the fill value
  std::uint32_t filter_mask = 0;    // if bit n is set, filter n was skipped
};

// An entry of the dimensions section: a dimension whose length may grow (in HDF5: a dimension with
// the maximum length H5S_UNLIMITED). The section also lists the record dimension.
struct Unlimited {
  DimId dimension = 0;
  bool is_record = false;
};

struct Extension {
  TypeTable types;
  std::vector<Unlimited> unlimited;  // unlimited dimensions in ascending order
  std::vector<Storage> storage;      // entries in ascending order of variables
  std::vector<std::byte> hdf5;       // payload of the hdf5 section (spec/hdf5_section.md)

  const Storage* storage_of(VarId variable) const {
    std::size_t low = 0, high = storage.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (storage[middle].variable < variable)
        low = middle + 1;
      else
        high = middle;
    }
    return low < storage.size() && storage[low].variable == variable ? &storage[low] : nullptr;
  }
};

}  // namespace nmb
