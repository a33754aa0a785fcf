// Which inputs a rank plans and moves: a run of them for each, with about as many bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

struct InputShare {
  std::size_t begin, end;  // in the list of inputs
};

// Where the runs of inputs of `bytes` end, one for each of `parts`: the middle of an input's bytes
// says whose it is, so the order stays and no run has more than its share and one input.
std::vector<std::size_t> share_ends(const std::vector<std::uint64_t>& bytes, std::size_t parts);

// Collective. Each rank asks for the sizes of a part of the files; one that cannot be asked counts
// nothing here.
Result<InputShare> share_inputs(Communicator& ranks, const std::vector<std::string>& paths);

}  // namespace nmb
