// Names that several inputs use: which input uses each name first, whatever ranks read them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

struct NameUse {
  std::string name;
  std::uint64_t input;           // its index in the list of inputs
  std::vector<std::byte> about;  // what later uses are compared with; may be empty
};

// Collective. uses: distinct names in this rank's inputs. Returns the first use of each name on any
// rank, in the same order; `about` is set only if that use is in another input.
Result<std::vector<NameUse>> first_uses(Communicator& ranks, std::span<const NameUse> uses);

}  // namespace nmb
