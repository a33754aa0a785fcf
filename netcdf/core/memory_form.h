// MemoryForm: how values of a type lie in the memory of netCDF-C programs: compounds as C structs,
// strings as char*, sequences as nc_vlen_t. Values in the library's form (nmb/datatype.h) are
// converted to it.
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nmb/datatype.h"

namespace nmb::udf {

// Returns the netCDF type of numbers, characters and strings; NC_NAT for other types.
nc_type atomic_type(const DataType& type);
// Returns the number of bytes of a value of an atomic type in memory; 0 for other types.
std::size_t atomic_size(nc_type type);
const char* atomic_name(nc_type type);

class MemoryForm {
 public:
  // Returns nullopt if netCDF has no such type.
  static std::optional<MemoryForm> of(const DataType& type);

  std::size_t size() const { return to_size_; }
  std::size_t alignment() const { return alignment_; }
  // Offsets of the members of a compound.
  std::vector<std::size_t> offsets() const;
  // Whether values have the same bytes in both forms.
  bool is_copy() const { return kind_ == Kind::kBytes; }
  // Converts `count` values. Memory for strings and sequences comes from malloc(), as programs free
  // it. May throw std::bad_alloc.
  void convert(const std::byte* from, std::uint64_t count, std::span<const std::byte> heap,
               std::byte* to) const;

 private:
  enum class Kind : std::uint8_t { kBytes, kHalf, kText, kString, kSequence, kArray, kCompound };
  struct Member;

  void convert_one(const std::byte* from, std::span<const std::byte> heap, std::byte* to) const;
  static std::optional<MemoryForm> of_part(const DataType& type);
  static std::optional<MemoryForm> of_compound(const DataType& type);

  Kind kind_ = Kind::kBytes;
  std::size_t from_size_ = 0, to_size_ = 0, alignment_ = 1;
  std::vector<Member> members_;  // of a compound; else one inner form or none
};

struct MemoryForm::Member {
  std::size_t from = 0, to = 0;
  MemoryForm form;
};

}  // namespace nmb::udf
