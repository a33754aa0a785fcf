// Names that several inputs use: which input did first, whatever ranks read them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

struct NameUse {
  std::string name;
  std::uint64_t input;           // its place in the list of inputs
  std::vector<std::byte> about;  // what a later use is compared with; may be empty
};

// Collective. uses: of distinct names, of this rank's inputs. Returns, for each in this order, the
// first use of its name on any rank; `about` only where that is another input's.
Result<std::vector<NameUse>> first_uses(Communicator& ranks, std::span<const NameUse> uses);

}  // namespace nmb
