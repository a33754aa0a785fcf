// RunCursor: moves through the runs of a selection. Several cursors visit the runs of several
// selections in the order of their offsets (spec/format.md, section 10).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/values.h"
#include "values/element_runs.h"
#include "wire/failure.h"

namespace nmb {

inline std::uint64_t stride_of(const Hyperslab& slab, std::size_t d) {
  return slab.stride.empty() || slab.count[d] == 1 ? 1 : slab.stride[d];
}

// A position in a selection, at the beginning of a run (as in for_each_run()) or inside one.
class RunCursor {
 public:
  // `runs` ascend and do not overlap.
  RunCursor(std::uint64_t element_size, SelectedRuns runs);
  // `slab` must have passed check_hyperslab(). The cursor keeps no reference to `shape` or `slab`.
  RunCursor(const VariableShape& shape, const Hyperslab& slab);
  // Selects all elements.
  static RunCursor whole(const VariableShape& shape);
  bool at_end() const { return left_ == 0; }
  std::uint64_t offset() const { return offset_; }    // in the extent
  std::uint64_t element() const { return element_; }  // in the selection
  std::uint64_t elements() const { return left_; }    // elements left in the run
  std::uint64_t element_size() const { return element_size_; }
  static constexpr std::uint64_t kNoRun = ~std::uint64_t{0};
  // Returns the offset of the next run, or kNoRun if there is none.
  std::uint64_t next_run() const;
  // Number of runs that the cursor has in memory.
  std::size_t listed_runs() const { return runs_ ? runs_->size() : 0; }
  // Skips at most elements() elements. After the last one, the cursor is at the next run.
  void skip(std::uint64_t elements);

 private:
  explicit RunCursor(std::uint64_t element_size) : element_size_(element_size) {}
  void begin_run();
  // A dimension outside of runs: a new run begins at each of its indexes.
  struct Outer {
    std::uint64_t count, step;  // step in bytes
    std::uint64_t index = 0;
  };
  std::vector<Outer> outer_;
  SelectedRuns runs_;       // in place of outer_
  std::size_t behind_ = 0;  // index of the next one of runs_
  std::uint64_t element_size_;
  std::uint64_t run_ = 1;  // number of elements in a whole run
  std::uint64_t offset_ = 0, element_ = 0, left_ = 0;
};

// Visits the runs of several selections of one extent in ascending order of their offsets, and
// moves each cursor to its end. Calls visit(index of the cursor, offset, element, elements) once
// for each run, but divides runs that overlap. If several selections contain the same element, the
// cursor with the highest index visits it last. Stops at the first error. There are at most as many
// visits as selected elements. A visit takes time logarithmic in the number of cursors.
Status merge_runs(
    std::span<RunCursor> cursors,
    const std::function<Status(std::size_t, std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

}  // namespace nmb
