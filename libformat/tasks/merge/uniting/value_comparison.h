// Compares the values that two datasets have for a variable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/first_difference.h"
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

struct IndexRange {
  std::uint64_t first, count;
};

// Returns texts for the found and the expected value, for example "4 at [2,0]" and "3". part: the
// part of the array in which the values differ, as an index range along each dimension.
std::pair<std::string, std::string> difference_text(const ValuesDiffer& differ, Type type,
                                                    const std::vector<IndexRange>& part);

}  // namespace nmb
