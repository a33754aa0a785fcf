// RunCursor: moves through the runs of a selection. With several cursors, the runs of several
// selections can be visited in the order of their offsets (spec/format.md, section 10).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/values.h"
#include "wire/failure.h"

namespace nmb {

inline std::uint64_t stride_of(const Hyperslab& slab, std::size_t d) {
  return slab.stride.empty() || slab.count[d] == 1 ? 1 : slab.stride[d];
}

// A position at the beginning of a run, or inside a run. for_each_run() uses the same runs.
class RunCursor {
 public:
  // `slab` must have passed check_hyperslab(). The cursor keeps no reference to `shape` or `slab`.
  RunCursor(const VariableShape& shape, const Hyperslab& slab);
  bool at_end() const { return left_ == 0; }
  std::uint64_t offset() const { return offset_; }    // in the extent
  std::uint64_t element() const { return element_; }  // in the selection
  std::uint64_t elements() const { return left_; }    // elements left in the run
  std::uint64_t element_size() const { return element_size_; }
  static constexpr std::uint64_t kNoRun = ~std::uint64_t{0};
  // Returns the offset of the next run, or kNoRun if there is none.
  std::uint64_t next_run() const;
  // Skips elements of the run. At most elements() can be skipped. After the last element, the
  // cursor is at the next run.
  void skip(std::uint64_t elements);

 private:
  // A dimension outside of runs: each of its indexes begins a new run.
  struct Outer {
    std::uint64_t count, step;  // step in bytes
    std::uint64_t index = 0;
  };
  std::vector<Outer> outer_;
  std::uint64_t element_size_;
  std::uint64_t run_ = 1;  // number of elements in a whole run
  std::uint64_t offset_ = 0, element_ = 0, left_ = 0;
};

// Visits the runs of several selections of one extent in ascending order of their offsets. Each
// cursor moves to the end of its selection. Calls visit(number of the cursor, offset, element,
// elements). Stops at the first error. Divides runs where selections overlap. If several selections
// contain the same element, the cursor with the highest number visits it last. A run that overlaps
// no other run is visited once. The number of visits is at most the number of selected elements. A
// visit takes time logarithmic in the number of cursors.
Status merge_runs(
    std::span<RunCursor> cursors,
    const std::function<Status(std::size_t, std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

}  // namespace nmb
