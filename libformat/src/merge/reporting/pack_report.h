// What ranks found while they planned, brought together on rank 0 in the order of the inputs.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/merge.h"

namespace nmb {

// Where inputs were found not to go together: conflicts are told in this order.
struct Occurrence {
  std::uint64_t input = 0;  // the later of the two
  std::uint64_t at = 0;     // in the order of its objects
  auto operator<=>(const Occurrence&) const = default;
};

struct FoundConflict {
  Occurrence occurrence;
  PackConflict conflict;
};

// Collective. Conflicts, inputs that cannot be used, warnings and sums of all ranks are in rank 0's
// report, and the failure of the lowest rank that has one is its *failure.
Status gather_report(Communicator& ranks, std::vector<FoundConflict> conflicts, PackReport* report,
                     Status* failure);

// What is wrong with inputs that were planned. Of the options output, strict and refuse_losses
// count.
Status verdict(const PackReport& report, const PackOptions& options);

}  // namespace nmb
