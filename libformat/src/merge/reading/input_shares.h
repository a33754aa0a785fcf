// Which inputs each rank plans and moves: a contiguous range with about the same number of bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

struct InputShare {
  std::size_t begin, end;  // in the list of inputs
};

// Returns where the ranges of inputs of `bytes` end, one for each of `parts`. The middle of an
// input's bytes decides to which range it belongs: the order stays, and no range exceeds its share
// by more than one input.
std::vector<std::size_t> share_ends(const std::vector<std::uint64_t>& bytes, std::size_t parts);

// Collective. Each rank queries the sizes of some of the files; a file that cannot be queried
// counts as empty.
Result<InputShare> share_inputs(Communicator& ranks, const std::vector<std::string>& paths);

}  // namespace nmb
