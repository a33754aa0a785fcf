// Many selections of a variable as runs of elements: what a process has of an array whose elements
// are scattered over processes takes 16 bytes for each run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/values.h"

namespace nmb {

// Elements that follow one another in an extent and in memory.
struct SelectedRun {
  std::uint64_t offset, elements;  // offset in the extent, in bytes
};
using SelectedRuns = std::shared_ptr<const std::vector<SelectedRun>>;

// Selections of one variable without strides: for each, the starts of all dimensions, then the
// counts. Memory holds their elements in this order.
struct Hyperslabs {
  std::span<const std::uint64_t> numbers;
};

// Elements of a variable from number `first` on, in row-major order. The number stays valid when
// the layout changes, because a redefinition keeps the lengths of dimensions.
struct NumberedRun {
  std::uint64_t first, elements;
};

// Returns the selected elements in the order of memory. Selections may exceed the record count of
// a record variable. Errors: kUsage, as check_hyperslab(); kLimit for too many records.
Result<std::vector<NumberedRun>> numbered_runs(const VariableShape& shape, const Hyperslabs& slabs);

// Runs that ascend and do not overlap, so that one RunCursor can visit them.
struct PlacedRuns {
  SelectedRuns runs;
  std::uint64_t first, elements;  // in memory
  std::uint64_t records;          // that a record variable must have for them; else 0
};

// Finds the offsets of runs. As few parts as the order of the runs allows. Errors: kLimit.
Result<std::vector<PlacedRuns>> placed_runs(const VariableShape& shape,
                                            std::span<const NumberedRun> runs);

}  // namespace nmb
