// Gathers on rank 0 the results of planning on all ranks, in the order of the inputs.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/merge.h"

namespace nmb {

// Identifies the object at which a conflict was found. Conflicts are reported in the order of these
// objects.
struct Occurrence {
  std::uint64_t input = 0;  // index of the input; of two inputs, the later one
  std::uint64_t at = 0;     // position of the object in the input
  auto operator<=>(const Occurrence&) const = default;
};

struct FoundConflict {
  Occurrence occurrence;
  PackConflict conflict;
};

// Encodes a loss in a message (parallel/message_fields.h). The path is not sent, because it is the
// path of the input.
template <class Fields>
void fields(Fields& all, PackLoss& loss) {
  all(loss.input, loss.object, loss.text, loss.kind, loss.blocks);
}

// Collective. Collects the conflicts, unusable inputs, warnings and sums of all ranks in rank 0's
// report. *failure becomes the error of the lowest rank that has an error.
Status gather_report(Communicator& ranks, std::vector<FoundConflict> conflicts, PackReport* report,
                     Status* failure);

// Returns an error if the planned inputs cannot be merged under the options output, strict and
// refuse_losses.
Status verdict(const PackReport& report, const PackOptions& options);

}  // namespace nmb
