// Extension: what a body of kind 6 says beyond the grammar of CDF-5: types that classic netCDF does
// not have, dimensions that may grow, variables whose values are not a plain array, and what it
// takes to write the block back as HDF5 (spec/format.md, section 15).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

// The classes of HDF5, with its numbers.
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

// One type of the types section. Which fields count depends on the class; the others are as here.
struct ExtendedType {
  TypeClass type_class = TypeClass::kInteger;
  // Bytes of a value. Those of variable length (strings, sequences, references) take kHeapValue.
  std::uint64_t size = 0;
  std::string name;  // of a named type: its path; empty: it has none

  // Integer, float, time, bitfield.
  ByteOrder order = ByteOrder::kLittle;
  bool is_signed = false;
  BitPadding low_padding = BitPadding::kZero, high_padding = BitPadding::kZero;
  std::uint32_t bit_offset = 0, precision = 0;
  // Float: positions and sizes in bits.
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
  // Compound: fields that ascend by offset and do not overlap is what is usual, not a rule.
  struct Field {
    std::string name;
    std::uint64_t offset = 0;  // in the value, bytes
    Type type = Type::kByte;
    bool operator==(const Field&) const = default;
  };
  std::vector<Field> fields;
  ReferenceKind reference = ReferenceKind::kObject;
  Type base = Type::kByte;  // of enum, sequence, array
  // Enum: names, and their values one after the other in the form of `base`.
  std::vector<std::string> names;
  std::vector<std::byte> values;
  std::vector<std::uint64_t> lengths;  // array, slowest first

  bool operator==(const ExtendedType&) const = default;
};

// The types of a block, by number: type code 256 + n is the n-th. A type is built of classic ones
// (big-endian) and of those before it.
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
  // Of an extended type that has().
  const ExtendedType& at(Type type) const {
    return types_[static_cast<std::uint32_t>(type) - kFirst];
  }
  // Bytes of a value of a type that has().
  std::uint64_t value_size(Type type) const {
    return is_extended(type) ? at(type).size : type_size(type);
  }
  // Whether values of the type lead to a heap: they, or parts of them, are of variable length.
  bool needs_heap(Type type) const {
    return is_extended(type) && traits_[static_cast<std::uint32_t>(type) - kFirst].heap;
  }
  // Returns its code. kDamaged (the message alone): it is none; kLimit: too many.
  NMB_EXPORT Result<Type> add(ExtendedType type);
  // How messages and listings call a type: "int", "string(12)", "compound{x, y}".
  NMB_EXPORT std::string text(Type type) const;
  // The classic type whose values have the same bits but for the order of bytes, if there is one;
  // of a classic type itself.
  NMB_EXPORT std::optional<Type> classic(Type type) const;
  // Whether values of a type that has a classic() one have their bytes in the other order.
  bool is_swapped(Type type) const {
    return is_extended(type) && at(type).order == ByteOrder::kLittle && at(type).size > 1;
  }

 private:
  static constexpr std::uint32_t kMostDepth = 64;
  struct Traits {
    bool heap = false;
    std::uint32_t depth = 1;  // types within types
  };
  NMB_EXPORT Status check(const ExtendedType& type) const;
  std::vector<ExtendedType> types_;
  std::vector<Traits> traits_;
};

// A type as the types section has it: equal for equal types.
NMB_EXPORT std::vector<std::byte> encode_type(const ExtendedType& type);

// How the values of a variable lie in its region of the extent where they are not a plain array.
enum class StorageKind : std::uint16_t {
  kHeap = 1,     // the array, whose values of variable length lead to bytes behind it
  kChunked = 2,  // a table of chunks, then the chunks
  kNone = 3,     // no bytes: external files, a virtual data set
};

// A filter of a chunk, by its registered number in HDF5 (1 deflate, 2 shuffle, 3 fletcher32,
// 32015 zstd, ...).
struct Filter {
  std::uint32_t id = 0;
  std::uint32_t flags = 0;  // bit 0: optional
  std::string name;
  std::vector<std::uint32_t> parameters;
  bool operator==(const Filter&) const = default;
};

// One entry of the storage section.
struct Storage {
  VarId variable = 0;
  StorageKind kind = StorageKind::kHeap;
  std::uint64_t region_length = 0;   // bytes from the variable's begin
  std::vector<std::uint64_t> chunk;  // lengths of a chunk, as many as the variable has dimensions
  std::vector<Filter> filters;       // in the order in which a writer applies them
};

// A row of a chunk table: chunks in row-major order, from 0 in each dimension.
struct ChunkRow {
  static constexpr std::uint64_t kLength = 24;
  std::uint64_t offset = 0;         // from the variable's begin
  std::uint64_t stored_length = 0;  // 0: never written, reads as the fill value
  std::uint32_t filter_mask = 0;    // bit n: filter n was left out
};

// Of a dimension whose length is not fixed for good (HDF5: maximum dimension), in the dimensions
// section. The record dimension is such a one too.
struct Unlimited {
  DimId dimension = 0;
  bool is_record = false;
};

struct Extension {
  TypeTable types;
  std::vector<Unlimited> unlimited;  // by ascending dimension
  std::vector<Storage> storage;      // by ascending variable
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
