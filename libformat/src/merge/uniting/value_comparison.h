// Comparing the values of a variable that two datasets have.
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
  std::uint64_t step;  // from a record to the next
};

// The value that differs first, and the two.
struct ValuesDiffer {
  std::uint64_t element = 0;  // in row-major order
  std::array<std::byte, 8> found{}, expected{};
};

// Of `slices` times `length` bytes of values of `type` in external form. nullopt: they are the
// same, bit by bit. kIo, kDamaged.
Result<std::optional<ValuesDiffer>> first_difference(const ComparedValues& found,
                                                     const ComparedValues& expected, Type type,
                                                     std::uint64_t slices, std::uint64_t length);

struct IndexRange {
  std::uint64_t first, count;
};

// Of the part of an array that has these indexes along each dimension: "4 at [2,0]", "3".
std::pair<std::string, std::string> difference_text(const ValuesDiffer& differ, Type type,
                                                    const std::vector<IndexRange>& part);

}  // namespace nmb
