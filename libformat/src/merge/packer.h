// The run of a merge: inputs are planned one by one, and then their values are moved.
#pragma once

#include "nmb/communicator.h"
#include "nmb/merge.h"
#include "nmb/status.h"

namespace nmb {

// pack() with an NMB or classic output, with `outputs` set and inputs in their order.
Status merge_inputs(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb
