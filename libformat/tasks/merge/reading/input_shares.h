// Decides which inputs each rank plans and moves. Each rank gets a contiguous range of inputs. All
// ranges have about the same number of bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {

struct InputShare {
  std::size_t begin, end;  // positions in the list of inputs
};

// Divides the inputs into `parts` ranges and returns where each range ends. bytes: size of each
// input. An input belongs to the range in which the middle of its bytes lies. So the order of the
// inputs stays the same, and no range exceeds its share by more than one input.
std::vector<std::size_t> share_ends(const std::vector<std::uint64_t>& bytes, std::size_t parts);

// Collective. Each rank queries the sizes of some of the files; a file that cannot be queried
// counts as empty.
Result<InputShare> share_inputs(Communicator& ranks, const std::vector<std::string>& paths);

}  // namespace nmb
