// DataType: the type of a variable's or an attribute's elements, whatever it is: numbers, text,
// compounds, enums, sequences and others. Elements: how values of such a type lie in memory.
//
//   const nmb::DataType type = var.datatype();
//   for (const nmb::DataMember& member : type.members)
//     std::cout << member.name << " at byte " << member.offset << "\n";
//
// In memory, numbers have the byte order of this machine. A part of an element that has variable
// length (a string, a sequence or a reference) is a VariablePart, which refers to bytes in a heap
// beside the elements. All other parts have a fixed size and lie in the element itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

enum class DataClass : std::uint8_t {
  kInteger,    // 1, 2, 4 or 8 bytes
  kFloat,      // IEEE 754 with 2, 4 or 8 bytes, or a long double of this machine
  kText,       // `size` characters; zeros follow a shorter text
  kBitfield,   // bits in an unsigned integer of 1, 2, 4 or 8 bytes
  kOpaque,     // bytes without a meaning, and numbers in a form that has no equal in memory
  kEnum,       // an integer of type `base`, some of whose values have names
  kCompound,   // `members`
  kArray,      // elements of type `base`, in row-major order
  kString,     // a VariablePart: characters
  kSequence,   // a VariablePart: elements of type `base`
  kReference,  // a VariablePart: the path of an object in the same file, as characters
};

struct DataMember;

struct Enumerator {
  std::string name;
  std::int64_t value = 0;  // the bits of an unsigned number of 8 bytes
  friend bool operator==(const Enumerator&, const Enumerator&) = default;
};

struct DataType {
  DataClass data_class = DataClass::kInteger;
  std::uint64_t size = 0;  // number of bytes of an element in memory
  std::string name{};      // path of a named type; empty if the type has no name

  bool is_signed = false;                 // kInteger
  bool is_utf8 = false;                   // kText, kString: the encoding that the file states
  bool is_region = false;                 // kReference: to a part of the object
  std::string tag{};                      // kOpaque
  std::vector<Enumerator> enumerators{};  // kEnum
  std::vector<DataMember> members;        // kCompound, in order of definition
  std::vector<DataType> base{};           // kEnum, kArray, kSequence: one type
  std::vector<std::uint64_t> lengths{};   // kArray: lengths of the dimensions, slowest first

  // Returns whether elements have parts of variable length.
  NMB_EXPORT bool has_parts() const;
  // Returns the type for messages: "int32", "text(12)", "compound{x, y}", "int32(*)".
  NMB_EXPORT std::string text() const;
  NMB_EXPORT bool operator==(const DataType& other) const;
};

struct DataMember {
  std::string name;
  std::uint64_t offset = 0;  // in bytes, from the beginning of the element
  DataType type;
  friend bool operator==(const DataMember&, const DataMember&) = default;
};

// A part of variable length in an element. It takes kSize bytes and need not be aligned.
struct VariablePart {
  static constexpr std::uint64_t kSize = 16;
  std::uint64_t count = 0;   // number of characters, or of elements of the sequence
  std::uint64_t offset = 0;  // of the first one in the heap; a multiple of 8 for a sequence

  // Whether HDF5 has no string or sequence here, which differs from an empty string.
  bool is_null() const { return count == 0 && offset == 0; }
  static VariablePart load(const std::byte* from) {
    VariablePart out;
    std::memcpy(&out.count, from, 8);
    std::memcpy(&out.offset, from + 8, 8);
    return out;
  }
  void store(std::byte* to) const {
    std::memcpy(to, &count, 8);
    std::memcpy(to + 8, &offset, 8);
  }
  // Returns the characters of a string or a reference.
  std::string_view text(std::span<const std::byte> heap) const {
    return {reinterpret_cast<const char*>(heap.data()) + offset, static_cast<std::size_t>(count)};
  }
};

// Elements of one type, one after the other, and the bytes to which their parts refer.
struct Elements {
  std::vector<std::byte> values{};
  std::vector<std::byte> heap{};
};

}  // namespace nmb
