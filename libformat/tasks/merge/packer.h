// Runs a merge: plans the inputs one by one, and then moves their values.
#pragma once

#include "merge/reporting/merge_options.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Collective. Does the work of pack().
Status run_merge(MergeOptions options, PackReport* report, Communicator& ranks);

// Collective. Runs pack() for an NMB or classic output. `options.outputs` must be set, and
// `options.inputs` must be in their final order.
Status merge_inputs(const MergeOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
