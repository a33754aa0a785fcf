// Compares the values that two datasets have for a variable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "files/first_difference.h"
#include "model/extension.h"
#include "model/metadata.h"
#include "netcdf/netcdf_view.h"
#include "sources/value_source.h"
#include "wire/kinds.h"

namespace nmb {

// The position of the first value that differs, and its bytes in both datasets.
struct ValuesDiffer {
  std::uint64_t element = 0;  // index in row-major order
  std::array<std::byte, 8> found{}, expected{};
};

// Compares `slices` slices of `length` bytes each. The values have type `type` and are in external
// form. Returns nullopt if all bits are the same. Errors: kIo, kDamaged.
Result<std::optional<ValuesDiffer>> first_difference(const ByteSlices& found,
                                                     const ByteSlices& expected, Type type,
                                                     std::uint64_t slices, std::uint64_t length);

// An array of values of a type that a classic dataset lacks.
struct OwnArray {
  Source array;  // without gaps
  Source heap_source;
  ClassicView::OwnValues::Heap heap;  // in heap_source
};

struct OwnDiffer {
  std::uint64_t element = 0;    // index in row-major order
  std::string found, expected;  // texts of the values
};

// Compares values of the last type in `types`, from element number `from` on. The arrays have the
// same length. Returns nullopt if all values are the same: their bytes, and the elements to which
// they refer. Errors: kIo, kDamaged.
Result<std::optional<OwnDiffer>> first_difference(const OwnArray& found, const OwnArray& expected,
                                                  const TypeTable& types, std::uint64_t from);

// Returns the result of encode_own() as text for messages.
std::string own_text(std::span<const std::byte> encoded);
// Returns the type of a result of encode_own(). nullptr: the type char.
std::string own_type_text(const Attribute* attribute);

struct IndexRange {
  std::uint64_t first, count;
};

// Returns the position of an element: " at [2,0]", or an empty text for a single value. part: the
// part of the array, as an index range along each dimension.
std::string place_text(std::uint64_t element, const std::vector<IndexRange>& part);

// Returns texts for the found and the expected value, for example "4 at [2,0]" and "3". part: the
// part of the array in which the values differ, as an index range along each dimension.
std::pair<std::string, std::string> difference_text(const ValuesDiffer& differ, Type type,
                                                    const std::vector<IndexRange>& part);

}  // namespace nmb
