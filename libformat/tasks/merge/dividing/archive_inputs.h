// Finds the NMB inputs whose blocks count as inputs of a union, a join or tiles (nmb/merge.h).
#pragma once

#include "merge/reporting/merge.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Collective. Replaces each NMB file whose blocks count as inputs by these blocks, in
// options->inputs and options->input_blocks, in the natural order of the names of the blocks.
// Changes nothing in mode Pack. Inputs that cannot be opened stay, and are reported when they are
// planned. Adds warnings to *report on rank 0. Errors: those of BlockChooser; kUsage if blocks are
// chosen and an input is not an NMB file; kDamaged, kIo.
Status divide_archives(Communicator& ranks, PackOptions* options, PackReport* report);

}  // namespace nmb
