// Memory of programs: which elements a buffer has, how they are packed, and how they become values
// of a variable and back.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nmb/array.h"
#include "nmb/types.h"

namespace nmb::pnetcdf {

// The type of the elements of a buffer. `fill` replaces values that the type cannot hold.
struct Element {
  MemoryType type = MemoryType::kInt8;
  bool is_long = false;  // MPI_LONG, whose fill value is that of int
  std::size_t size() const { return memory_type_size(type); }
};

// The type in which values of `type` are exactly those of memory.
constexpr MemoryType native(Type type) {
  constexpr MemoryType types[] = {MemoryType::kInt8,   MemoryType::kInt8,  MemoryType::kText,
                                  MemoryType::kInt16,  MemoryType::kInt32, MemoryType::kFloat,
                                  MemoryType::kDouble, MemoryType::kUInt8, MemoryType::kUInt16,
                                  MemoryType::kUInt32, MemoryType::kInt64, MemoryType::kUInt64};
  return types[static_cast<std::size_t>(type)];
}

// Returns the element that a named MPI datatype stands for; nullopt for other datatypes.
std::optional<Element> element_of(MPI_Datatype type);
// Returns whether the type is one that may stand in a call without a count (NC_COUNT_IGNORE).
bool may_stand_alone(MPI_Datatype type);

// A user's buffer, as a call describes it.
struct Buffer {
  Element element{};
  MPI_Offset elements = 0;
  bool is_contiguous = true;  // else `count` items of `type` must be packed
  MPI_Offset count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Finds out what a buffer has. elements: as many as the call selects. type: may be
// MPI_DATATYPE_NULL (the variable's own type). Returns a code.
int decode_buffer(MPI_Offset count, MPI_Datatype type, Type variable, MPI_Offset elements,
                  Buffer* out);

// Copies the elements of a buffer that is not contiguous to adjacent memory, and back.
int pack(const void* from, const Buffer& buffer, std::byte* to);
int unpack(const std::byte* from, const Buffer& buffer, void* to);

// Returns whether the mapping of varm is other than row-major order.
bool is_mapped(std::span<const MPI_Offset> count, const MPI_Offset* imap);
// Copies elements from the places of a mapping to row-major order, and back.
void gather(const std::byte* from, std::span<const MPI_Offset> count, const MPI_Offset* imap,
            std::size_t size, std::byte* to);
void scatter(const std::byte* from, std::span<const MPI_Offset> count, const MPI_Offset* imap,
             std::size_t size, std::byte* to);

// Returns whether elements of memory are the values of the variable, byte for byte.
bool needs_conversion(Type type, MemoryType memory, int format);
// Converts values. A value that the target cannot hold becomes `fill`, which has the target's type.
// Returns the number of such values.
std::uint64_t convert(MemoryType from_type, const std::byte* from, std::uint64_t count,
                      MemoryType to_type, std::byte* to, const std::byte* fill);
// Writes netCDF's default fill value of a type of memory to `out` (at most 8 bytes).
void default_fill(const Element& element, std::byte* out);

}  // namespace nmb::pnetcdf
