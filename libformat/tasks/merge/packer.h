// Runs a merge: plans the inputs one by one, and then moves their values.
#pragma once

#include "nmb/communicator.h"
#include "nmb/merge.h"
#include "nmb/status.h"

namespace nmb {

// Collective. Runs pack() for an NMB or classic output. `options.outputs` must be set, and
// `options.inputs` must be in their final order.
Status merge_inputs(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
