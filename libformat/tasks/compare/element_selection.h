// ElementSelection: elements of an array, chosen by indexes of each dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "sources/selected_values.h"

namespace nmb {

// Successive elements of an array in row-major order.
struct ElementRun {
  std::uint64_t first = 0, count = 0;
  std::uint64_t end() const { return first + count; }
};

// Immutable. The selected elements have an order: row-major, with the indexes in the given order.
class ElementSelection {
 public:
  struct Axis {
    IndexRuns indexes;         // without empty runs
    std::uint64_t length = 0;  // of the array
  };
  // axes: slowest dimension first; without axes, the array has one element. The product of all
  // lengths must fit into 64 bits.
  explicit ElementSelection(std::vector<Axis> axes);
  // All elements of an array.
  static ElementSelection all(std::uint64_t elements) {
    return ElementSelection({{{{0, elements, 1}}, elements}});
  }

  std::uint64_t size() const { return size_; }
  // Returns the positions in the array of the selected elements `begin` to `begin` + `count` - 1.
  // Consecutive positions are one run.
  std::vector<ElementRun> runs(std::uint64_t begin, std::uint64_t count) const;

 private:
  struct Step {
    IndexRuns indexes;
    std::vector<std::uint64_t> firsts;  // number of indexes before each run
    std::uint64_t count = 0;            // number of indexes
    std::uint64_t distance = 1;         // elements between successive indexes in the array
  };
  static std::uint64_t position_of(const Step& step, std::uint64_t number, std::uint64_t* left);

  std::vector<Step> steps_;
  std::uint64_t size_ = 1;
};

}  // namespace nmb
