// Runs a merge: plans the inputs one by one, and then moves their values.
#pragma once

#include "merge/reporting/merge.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Collective. Runs pack() for an NMB or classic output. `options.outputs` must be set, and
// `options.inputs` must be in their final order.
Status merge_inputs(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
