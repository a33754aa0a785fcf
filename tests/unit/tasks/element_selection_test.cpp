// Selected elements, and elements in no box, compared with arrays that are marked element by
// element.
#include "compare/element_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "prove/uncovered.h"

namespace nmb {
namespace {

using Lengths = std::vector<std::uint64_t>;

// Appends the position of each selected element, in their order.
void for_each_selected(const std::vector<ElementSelection::Axis>& axes, std::size_t axis,
                       std::uint64_t before, std::vector<std::uint64_t>* out) {
  if (axis == axes.size()) {
    out->push_back(before);
    return;
  }
  for (const IndexRun& run : axes[axis].indexes)
    for (std::uint64_t i = 0; i < run.count; ++i)
      for_each_selected(axes, axis + 1, before * axes[axis].length + run.first + i * run.stride,
                        out);
}

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}
  std::uint64_t upto(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(engine_);
  }
  ElementSelection::Axis axis() {
    ElementSelection::Axis axis{{}, 1 + upto(6)};
    if (upto(1) == 0) {
      axis.indexes = {{0, axis.length, 1}};
      return axis;
    }
    for (std::uint64_t runs = 1 + upto(2); runs > 0; --runs) {
      const std::uint64_t first = upto(axis.length - 1), stride = 1 + upto(2);
      axis.indexes.push_back({first, 1 + upto((axis.length - 1 - first) / stride), stride});
    }
    return axis;
  }

 private:
  std::mt19937 engine_;
};

TEST(ElementSelection, HasTheElementsOfNestedLoops) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Generator random(seed);
    std::vector<ElementSelection::Axis> axes(random.upto(4));
    for (ElementSelection::Axis& axis : axes) axis = random.axis();
    std::vector<std::uint64_t> expected;
    for_each_selected(axes, 0, 0, &expected);
    const ElementSelection selection(axes);
    ASSERT_EQ(selection.size(), expected.size()) << seed;
    for (std::uint64_t at = 0; at < expected.size();) {
      const std::uint64_t count = 1 + random.upto(expected.size() - at - 1);
      std::vector<std::uint64_t> found;
      for (const ElementRun& run : selection.runs(at, count))
        for (std::uint64_t i = 0; i < run.count; ++i) found.push_back(run.first + i);
      const auto first = expected.begin() + static_cast<std::ptrdiff_t>(at);
      ASSERT_EQ(found, std::vector(first, first + static_cast<std::ptrdiff_t>(count))) << seed;
      at += count;
    }
  }
}

TEST(ElementSelection, AWholeArrayIsOneRun) {
  const ElementSelection selection({{{{2, 3, 1}}, 7}, {{{0, 4, 1}}, 4}, {{{0, 5, 1}}, 5}});
  ASSERT_EQ(selection.size(), 60u);
  EXPECT_EQ(selection.runs(0, 60).size(), 1u);
  EXPECT_EQ(selection.runs(7, 20).front().first, 47u);
}

TEST(Uncovered, EachElementIsInABoxOrUncovered) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Generator random(seed);
    Lengths shape(random.upto(3));
    for (std::uint64_t& length : shape) length = 1 + random.upto(5);
    std::uint64_t elements = 1;
    for (const std::uint64_t length : shape) elements *= length;
    std::vector<ElementBox> boxes(random.upto(4));
    for (ElementBox& box : boxes)
      for (const std::uint64_t length : shape) {
        box.first.push_back(random.upto(length - 1));
        box.count.push_back(random.upto(length - box.first.back()));
      }
    const auto mark = [&](const std::vector<ElementBox>& marked) {
      std::vector<int> marks(elements);
      for (const ElementBox& box : marked)
        for (std::uint64_t e = 0; e < elements; ++e) {
          std::uint64_t rest = e;
          bool is_inside = true;
          for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
            const std::uint64_t index = rest % shape[d];
            is_inside &= index >= box.first[d] && index < box.first[d] + box.count[d];
          }
          marks[e] += is_inside;
        }
      return marks;
    };
    const std::vector<int> covered = mark(boxes), left = mark(uncovered(boxes, shape));
    for (std::uint64_t e = 0; e < elements; ++e)
      ASSERT_EQ(left[e], covered[e] == 0 ? 1 : 0) << seed << " element " << e;
  }
}

}  // namespace
}  // namespace nmb
