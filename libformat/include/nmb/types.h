// Types of values and kinds of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

// External types, numbered as in the classic netCDF formats. CDF-1 and CDF-2 have only the first
// six types. Codes from 256 are types that a block from HDF5 defines.
enum class Type : std::uint16_t {
  kByte = 1,
  kChar = 2,
  kShort = 3,
  kInt = 4,
  kFloat = 5,
  kDouble = 6,
  kUByte = 7,
  kUShort = 8,
  kUInt = 9,
  kInt64 = 10,
  kUInt64 = 11,
};

constexpr bool is_type(std::uint32_t code) { return code >= 1 && code <= 11; }

// Returns the number of bytes of one value in external form. `type` must be in the enumeration
// above; a block's own type is not allowed.
constexpr std::size_t type_size(Type type) {
  constexpr std::uint8_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return sizes[static_cast<std::size_t>(type)];
}

// Returns the name of a type in CDL; "extended" for a block's own types.
constexpr std::string_view type_name(Type type) {
  constexpr std::string_view names[] = {"",       "byte",  "char",   "short", "int",   "float",
                                        "double", "ubyte", "ushort", "uint",  "int64", "uint64"};
  return is_type(static_cast<std::uint32_t>(type)) ? names[static_cast<std::size_t>(type)]
                                                   : "extended";
}

// The length of the record dimension in a definition: more than any number.
struct UnlimitedLength {
  constexpr operator std::uint64_t() const { return ~std::uint64_t{0}; }
};
inline constexpr UnlimitedLength kUnlimited;

// A range of bytes of a file or of an extent.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t length() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// The content of a file determines its kind.
enum class FileKind : std::uint8_t { kNmb, kCdf1, kCdf2, kCdf5, kHdf5, kUnknown };
// Returns the name of a kind: "NMB", "CDF-1", "HDF5", ...
NMB_EXPORT std::string_view kind_name(FileKind kind);

}  // namespace nmb
