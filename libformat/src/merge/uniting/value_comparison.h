// Compares the values of a variable that two datasets have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/types.h"

namespace nmb {

struct ComparedValues {
  const ByteSource* source;
  std::uint64_t begin;
  std::uint64_t step;  // distance from one record to the next
};

// The first value that differs, in both datasets.
struct ValuesDiffer {
  std::uint64_t element = 0;  // in row-major order
  std::array<std::byte, 8> found{}, expected{};
};

// Compares `slices` times `length` bytes of values of `type` in external form. nullopt: they are
// the same, bit by bit. Errors: kIo, kDamaged.
Result<std::optional<ValuesDiffer>> first_difference(const ComparedValues& found,
                                                     const ComparedValues& expected, Type type,
                                                     std::uint64_t slices, std::uint64_t length);

struct IndexRange {
  std::uint64_t first, count;
};

// Returns texts for a part of an array that has these indexes along each dimension: "4 at [2,0]",
// "3".
std::pair<std::string, std::string> difference_text(const ValuesDiffer& differ, Type type,
                                                    const std::vector<IndexRange>& part);

}  // namespace nmb
