#include "prove/uncovered.h"

#include <algorithm>

namespace nmb {

namespace {

using Boxes = std::vector<const ElementBox*>;

// Cuts the array along one dimension after the other, wherever a box begins or ends.
void cut(const Boxes& boxes, const std::vector<std::uint64_t>& shape, std::size_t axis,
         ElementBox* here, std::vector<ElementBox>* out) {
  if (boxes.empty()) {
    for (std::size_t d = axis; d < shape.size(); ++d) {
      here->first[d] = 0;
      here->count[d] = shape[d];
    }
    out->push_back(*here);
    return;
  }
  if (axis == shape.size()) return;
  std::vector<std::uint64_t> cuts{0, shape[axis]};
  for (const ElementBox* const box : boxes) {
    cuts.push_back(box->first[axis]);
    cuts.push_back(box->first[axis] + box->count[axis]);
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    Boxes inside;
    for (const ElementBox* const box : boxes)
      if (box->first[axis] <= cuts[i] && cuts[i] < box->first[axis] + box->count[axis])
        inside.push_back(box);
    here->first[axis] = cuts[i];
    here->count[axis] = cuts[i + 1] - cuts[i];
    cut(inside, shape, axis + 1, here, out);
  }
}

}  // namespace

std::vector<ElementBox> uncovered(std::span<const ElementBox> boxes,
                                  const std::vector<std::uint64_t>& shape) {
  std::vector<ElementBox> out;
  if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return out;
  Boxes all;
  for (const ElementBox& box : boxes) all.push_back(&box);
  ElementBox here;
  here.first.resize(shape.size());
  here.count.resize(shape.size());
  cut(all, shape, 0, &here, &out);
  return out;
}

}  // namespace nmb
