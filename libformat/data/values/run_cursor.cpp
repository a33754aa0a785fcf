#include "values/run_cursor.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace nmb {
namespace {

// Returns for each dimension the distance in bytes between elements at successive indexes.
std::vector<std::uint64_t> distances(const VariableShape& shape) {
  std::vector<std::uint64_t> out(shape.lengths.size());
  std::uint64_t bytes = shape.element_size;
  for (std::size_t d = out.size(); d-- > 0;) {
    out[d] = bytes;
    bytes *= shape.lengths[d];
  }
  if (shape.record_size > 0 && !out.empty()) out[0] = shape.record_size;
  return out;
}

}  // namespace

RunCursor::RunCursor(const VariableShape& shape, const Hyperslab& slab)
    : element_size_(shape.element_size) {
  if (element_count(slab) == 0) return;
  const std::vector<std::uint64_t> distance = distances(shape);
  // A run consists of the dimensions from `outer` on, in which the selected elements follow one
  // another without a gap.
  std::size_t outer = shape.lengths.size();
  while (outer > 0) {
    const std::size_t d = outer - 1;
    const bool adjacent =
        slab.count[d] == 1 || (stride_of(slab, d) == 1 && distance[d] == run_ * shape.element_size);
    if (!adjacent) break;
    run_ *= slab.count[d];
    --outer;
    // Slower dimensions can belong to the run only if all of this dimension is selected.
    if (slab.count[d] != shape.lengths[d]) break;
  }
  offset_ = shape.begin;
  for (std::size_t d = 0; d < slab.start.size(); ++d) offset_ += slab.start[d] * distance[d];
  outer_.reserve(outer);
  for (std::size_t d = 0; d < outer; ++d)
    outer_.push_back({slab.count[d], stride_of(slab, d) * distance[d]});
  left_ = run_;
}

RunCursor::RunCursor(std::uint64_t element_size, SelectedRuns runs)
    : runs_(std::move(runs)), element_size_(element_size) {
  if (!runs_->empty()) begin_run();
}

// Begins the run runs_[behind_].
void RunCursor::begin_run() {
  const SelectedRun& run = (*runs_)[behind_++];
  offset_ = run.offset;
  run_ = left_ = run.elements;
}

RunCursor RunCursor::whole(const VariableShape& shape) {
  if (shape.record_size != 0) {
    Hyperslab slab;
    slab.start.assign(shape.lengths.size(), 0);
    slab.count = shape.lengths;
    return {shape, slab};
  }
  RunCursor out(shape.element_size);
  out.run_ = shape.elements();
  out.offset_ = out.run_ == 0 ? 0 : shape.begin;
  out.left_ = out.run_;
  return out;
}

std::uint64_t RunCursor::next_run() const {
  if (runs_) return behind_ < runs_->size() ? (*runs_)[behind_].offset : kNoRun;
  std::uint64_t begin = offset_ - (run_ - left_) * element_size_;
  for (std::size_t d = outer_.size(); d > 0; --d) {
    const Outer& dimension = outer_[d - 1];
    if (dimension.index + 1 < dimension.count) return begin + dimension.step;
    begin -= dimension.index * dimension.step;
  }
  return kNoRun;
}

void RunCursor::skip(std::uint64_t elements) {
  const std::uint64_t next = elements == left_ ? next_run() : kNoRun;
  left_ -= elements;
  element_ += elements;
  offset_ += elements * element_size_;
  if (next == kNoRun) return;
  if (runs_) return begin_run();
  offset_ = next;
  left_ = run_;
  for (std::size_t d = outer_.size(); ++outer_[d - 1].index == outer_[d - 1].count; --d)
    outer_[d - 1].index = 0;
}

Status for_each_run(
    const VariableShape& shape, const Hyperslab& slab,
    const std::function<Status(std::uint64_t, std::uint64_t, std::uint64_t)>& visit) {
  for (RunCursor run(shape, slab); !run.at_end(); run.skip(run.elements()))
    NMB_TRY(visit(run.offset(), run.element(), run.elements()));
  return {};
}

Status merge_runs(
    std::span<RunCursor> cursors,
    const std::function<Status(std::size_t, std::uint64_t, std::uint64_t, std::uint64_t)>& visit) {
  using Next = std::pair<std::uint64_t, std::size_t>;  // offset of a run, index of its cursor
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  for (std::size_t i = 0; i < cursors.size(); ++i)
    if (!cursors[i].at_end()) queue.emplace(cursors[i].offset(), i);
  std::vector<std::size_t> here;
  while (!queue.empty()) {
    const std::uint64_t offset = queue.top().first;
    for (here.clear(); !queue.empty() && queue.top().first == offset; queue.pop())
      here.push_back(queue.top().second);
    // A cursor stops where a run of another cursor begins.
    std::uint64_t next = queue.empty() ? RunCursor::kNoRun : queue.top().first;
    if (here.size() > 1)
      for (const std::size_t i : here) next = std::min(next, cursors[i].next_run());
    for (const std::size_t i : here) {
      RunCursor& run = cursors[i];
      const std::uint64_t elements =
          std::min(run.elements(), (next - offset - 1) / run.element_size() + 1);
      NMB_TRY(visit(i, offset, run.element(), elements));
      run.skip(elements);
    }
    for (const std::size_t i : here)
      if (!cursors[i].at_end()) queue.emplace(cursors[i].offset(), i);
  }
  return {};
}

}  // namespace nmb
