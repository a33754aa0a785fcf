// Orders inputs by a value in each input, and finds inputs that are given twice.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "merge/reporting/merge.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Collective. Orders the inputs by the first value of PackOptions::sort_by in each of them, or, if
// blocks of NMB files count as inputs, as nmb/merge.h says. Inputs that are equal in this order
// keep their order; inputs in which the variable has no values come last. With
// Join::rebase_times, times that count from different days are compared by their dates. Sets
// report->archive_note on rank 0. All ranks return the same errors: kConflict if an input has no
// variable PackOptions::sort_by or its first value is NaN, and errors in reading the inputs.
Status order_inputs(Communicator& ranks, PackOptions* options, PackReport* report);

// Finds files that are given more than once, even under different names. For each repetition,
// returns the index of the first path to the file and the index of the repeated path. Files that
// cannot be examined are left out.
std::vector<std::pair<std::size_t, std::size_t>> repeated_files(
    const std::vector<std::string>& paths);

}  // namespace nmb
