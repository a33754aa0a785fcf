// Arrays of numpy: the only file that uses numpy's C interface is arrays.cpp.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nmb_python {

namespace nb = nanobind;

// Must be called once, before any other function.
void import_numpy();

// Numbers of numpy's types: a letter of the array protocol ('i', 'u', 'f', 'S') and a size.
nb::object dtype_of(char kind, std::size_t size);

// A new array in C order that owns its memory, and this memory. It is not initialised, unless the
// type has objects.
struct NewArray {
  nb::object array;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};
NewArray new_array(nb::handle dtype, std::span<const std::uint64_t> shape);

// The memory of an array that a caller passed: in C order, writable, aligned, with this type and
// this shape. Throws ValueError if it is not.
std::span<std::byte> memory_of(nb::handle array, nb::handle dtype,
                               std::span<const std::uint64_t> shape);

// The memory of an array to write: in C order, of numbers in the byte order of this machine, or of
// characters. Throws ValueError if it is not of this type ('i', 'u', 'f', 'S') and size.
std::span<const std::byte> bytes_of(nb::handle array, char kind, std::size_t size);

// Returns the element of an array without dimensions as a scalar of numpy, and other arrays as they
// are.
nb::object scalar_or_array(nb::object array);

// Returns the numbers of an array of integers in any form that numpy can convert.
std::vector<std::int64_t> integers_of(nb::handle array);

}  // namespace nmb_python
