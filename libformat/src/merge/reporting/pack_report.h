// Gathers on rank 0 the results of planning on all ranks, in the order of the inputs.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/merge.h"

namespace nmb {

// The place at which a conflict was found: conflicts are reported in this order.
struct Occurrence {
  std::uint64_t input = 0;  // the later of the two
  std::uint64_t at = 0;     // in the order of its objects
  auto operator<=>(const Occurrence&) const = default;
};

struct FoundConflict {
  Occurrence occurrence;
  PackConflict conflict;
};

// A loss in a message (parallel/message_fields.h); its path is that of its input.
template <class Fields>
void fields(Fields& all, PackLoss& loss) {
  all(loss.input, loss.object, loss.text, loss.kind, loss.blocks);
}

// Collective. Gathers conflicts, unusable inputs, warnings and sums of all ranks in rank 0's
// report. *failure becomes the failure of the lowest rank that has one.
Status gather_report(Communicator& ranks, std::vector<FoundConflict> conflicts, PackReport* report,
                     Status* failure);

// Returns whether whole files are stored in the output.
bool stores_originals(const PackOptions& options);

// Returns the error for the inputs that were planned. Uses the options output, strict and
// refuse_losses.
Status verdict(const PackReport& report, const PackOptions& options);

}  // namespace nmb
