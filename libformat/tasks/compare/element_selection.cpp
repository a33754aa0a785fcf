#include "compare/element_selection.h"

#include <algorithm>
#include <utility>

namespace nmb {

namespace {

bool is_contiguous(const IndexRun& run) { return run.stride == 1 || run.count == 1; }

// Merges each axis that is selected as a whole with the axis before it.
std::vector<ElementSelection::Axis> merged(std::vector<ElementSelection::Axis> axes) {
  if (axes.empty()) return {{{{0, 1, 1}}, 1}};
  while (axes.size() > 1) {
    const ElementSelection::Axis last = axes.back();
    ElementSelection::Axis& before = axes[axes.size() - 2];
    const bool is_whole = last.length > 0 && last.indexes.size() == 1 &&
                          last.indexes[0].first == 0 && last.indexes[0].count == last.length &&
                          is_contiguous(last.indexes[0]);
    if (!is_whole || !std::ranges::all_of(before.indexes, is_contiguous)) break;
    for (IndexRun& run : before.indexes)
      run = {run.first * last.length, run.count * last.length, 1};
    before.length *= last.length;
    axes.pop_back();
  }
  return axes;
}

}  // namespace

ElementSelection::ElementSelection(std::vector<Axis> axes) {
  std::uint64_t distance = 1;
  axes = merged(std::move(axes));
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    Step& step = steps_.emplace_back();
    step.distance = distance;
    step.indexes = std::move(axis->indexes);
    for (const IndexRun& run : step.indexes) {
      step.firsts.push_back(step.count);
      step.count += run.count;
    }
    size_ *= step.count;
    distance *= axis->length;
  }
  std::ranges::reverse(steps_);
}

// Returns the index with this number. Sets *left to the number of consecutive indexes from there
// on.
std::uint64_t ElementSelection::position_of(const Step& step, std::uint64_t number,
                                            std::uint64_t* left) {
  const auto after = std::ranges::upper_bound(step.firsts, number);
  const auto at = static_cast<std::size_t>(after - step.firsts.begin()) - 1;
  const IndexRun& run = step.indexes[at];
  const std::uint64_t in_run = number - step.firsts[at];
  *left = is_contiguous(run) ? run.count - in_run : 1;
  return run.first + in_run * run.stride;
}

std::vector<ElementRun> ElementSelection::runs(std::uint64_t begin, std::uint64_t count) const {
  std::vector<ElementRun> out;
  std::vector<std::uint64_t> numbers(steps_.size());
  std::uint64_t rest = begin;
  for (std::size_t d = steps_.size(); d-- > 0 && count > 0;) {
    numbers[d] = rest % steps_[d].count;
    rest /= steps_[d].count;
  }
  const std::size_t last = steps_.size() - 1;
  while (count > 0) {
    std::uint64_t at = 0, left = 0;
    for (std::size_t d = 0; d <= last; ++d)
      at += position_of(steps_[d], numbers[d], &left) * steps_[d].distance;
    const std::uint64_t here = std::min(left, count);
    if (!out.empty() && out.back().end() == at)
      out.back().count += here;
    else
      out.push_back({at, here});
    count -= here;
    numbers[last] += here;
    for (std::size_t d = last; d > 0 && numbers[d] == steps_[d].count; --d) {
      numbers[d] = 0;
      ++numbers[d - 1];
    }
  }
  return out;
}

}  // namespace nmb
