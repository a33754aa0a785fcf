// Finds which input uses a name first, also if different ranks read the inputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {

struct NameUse {
  std::string name;
  std::uint64_t input;           // index of the input in the list of inputs
  std::vector<std::byte> about;  // data with which later uses are compared; may be empty
};

// Collective. uses: distinct names in this rank's inputs. Returns the first use of each name on any
// rank, in the order of `uses`. `about` is set only if the first use is in another input.
Result<std::vector<NameUse>> first_uses(Communicator& ranks, std::span<const NameUse> uses);

}  // namespace nmb
