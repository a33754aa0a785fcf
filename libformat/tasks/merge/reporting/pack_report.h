// Gathers the planning results of all ranks on rank 0, in the order of the inputs.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "merge/reporting/merge.h"
#include "parallel/communicator.h"

namespace nmb {

// Identifies the object at which a conflict was found. Conflicts are reported in the order of their
// objects.
struct Occurrence {
  std::uint64_t input = 0;  // index of the input; of two inputs in conflict, the later one
  std::uint64_t at = 0;     // position of the object in the input
  auto operator<=>(const Occurrence&) const = default;
};

struct FoundConflict {
  Occurrence occurrence;
  PackConflict conflict;
};

// Encodes a loss in a message (parallel/message_fields.h). The path is not sent, because the
// receiver knows the path of each input.
template <class Fields>
void fields(Fields& all, PackLoss& loss) {
  all(loss.input, loss.object, loss.text, loss.kind, loss.blocks);
}

// Collective. Collects the conflicts, unusable inputs, warnings and sums of all ranks in rank 0's
// report. *failure becomes the error of the lowest rank that has an error.
Status gather_report(Communicator& ranks, std::vector<FoundConflict> conflicts, PackReport* report,
                     Status* failure);

// Returns whether a merge with these options stores whole files in the output.
bool stores_originals(const PackOptions& options);

// Returns an error if the report has unusable inputs or conflicts. Also returns an error for losses
// that PackOptions::refused_losses covers, and for warnings or losses if `strict` is set.
Status verdict(const PackReport& report, const PackOptions& options);

}  // namespace nmb
