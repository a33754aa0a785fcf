// RunCursor: the runs of a selection one after the other, so that runs of several selections can be
// visited in order of where they lie (spec/format.md, "Values").
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

inline std::uint64_t stride_of(const Hyperslab& slab, std::size_t d) {
  return slab.stride.empty() || slab.count[d] == 1 ? 1 : slab.stride[d];
}

// At one run of for_each_run(), or the rest of one.
class RunCursor {
 public:
  // `slab` must have passed check_hyperslab. Neither is referred to later.
  RunCursor(const VariableShape& shape, const Hyperslab& slab);
  bool at_end() const { return left_ == 0; }
  std::uint64_t offset() const { return offset_; }    // in the extent
  std::uint64_t element() const { return element_; }  // in the selection
  std::uint64_t elements() const { return left_; }    // to the end of the run
  std::uint64_t element_size() const { return element_size_; }
  static constexpr std::uint64_t kNoRun = ~std::uint64_t{0};
  // Where the run behind this one begins.
  std::uint64_t next_run() const;
  // Goes on by at most elements(); behind the last of them to the next run.
  void skip(std::uint64_t elements);

 private:
  // A dimension whose indices begin runs.
  struct Outer {
    std::uint64_t count, step;  // step in bytes
    std::uint64_t index = 0;
  };
  std::vector<Outer> outer_;
  std::uint64_t element_size_;
  std::uint64_t run_ = 1;  // elements of a whole one
  std::uint64_t offset_ = 0, element_ = 0, left_ = 0;
};

// Visits the runs of selections of one extent in ascending order: visit(number of the cursor,
// offset, element, elements). Where selections overlap runs are divided, so that what is visited
// last of an element is of the selection that comes last. Moves the cursors to their ends; stops at
// the first failure. Time: at most as many visits as elements, each the logarithm of the number of
// cursors; as many as runs where nothing overlaps.
Status merge_runs(
    std::span<RunCursor> cursors,
    const std::function<Status(std::size_t, std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

}  // namespace nmb
