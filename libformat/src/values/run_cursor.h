// RunCursor: steps through the runs of a selection, so that the runs of several selections can be
// visited in the order of their offsets (spec/format.md, "Values").
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

// The position at a run of for_each_run(), or inside one.
class RunCursor {
 public:
  // `slab` must have passed check_hyperslab. The cursor keeps no reference to `shape` or `slab`.
  RunCursor(const VariableShape& shape, const Hyperslab& slab);
  bool at_end() const { return left_ == 0; }
  std::uint64_t offset() const { return offset_; }    // in the extent
  std::uint64_t element() const { return element_; }  // in the selection
  std::uint64_t elements() const { return left_; }    // elements left in the run
  std::uint64_t element_size() const { return element_size_; }
  static constexpr std::uint64_t kNoRun = ~std::uint64_t{0};
  // Returns where the next run begins.
  std::uint64_t next_run() const;
  // Skips at most elements(); after the last of them the next run begins.
  void skip(std::uint64_t elements);

 private:
  // A dimension each index of which begins a run.
  struct Outer {
    std::uint64_t count, step;  // step in bytes
    std::uint64_t index = 0;
  };
  std::vector<Outer> outer_;
  std::uint64_t element_size_;
  std::uint64_t run_ = 1;  // elements of a whole run
  std::uint64_t offset_ = 0, element_ = 0, left_ = 0;
};

// Visits the runs of selections of one extent in ascending order: visit(number of the cursor,
// offset, element, elements). Where selections overlap, runs are divided so that the last visit of
// an element is for the last of these selections. Moves the cursors to their ends; stops at the
// first failure. Time: at most one visit for each element, and one for each run where nothing
// overlaps; a visit takes the logarithm of the number of cursors.
Status merge_runs(
    std::span<RunCursor> cursors,
    const std::function<Status(std::size_t, std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

}  // namespace nmb
