// The order of inputs by a value in each, and inputs that are given twice.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/external_files.h"
#include "nmb/status.h"

namespace nmb {

// Collective. Sorts `inputs` by the first value of the numeric variable `variable` (with the path
// of its block) in each; equal ones keep their order. On all ranks: kConflict: an input without the
// variable, or without values of it; what reading the inputs fails with. external: of NMB
// inputs, which files are opened that hold values of them.
Status sort_by_values(Communicator& ranks, const std::string& variable, ExternalPaths external,
                      std::vector<std::string>* inputs);

// Files that are given twice, by any names of theirs: the places of the first and of each other.
// Those that cannot be looked at are left out.
std::vector<std::pair<std::size_t, std::size_t>> repeated_files(
    const std::vector<std::string>& paths);

}  // namespace nmb
