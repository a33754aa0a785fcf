// Sorts inputs by a value in each, and finds inputs that are given twice.
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
// of its block) in each; inputs with equal values keep their order. Errors, on all ranks: kConflict
// if an input does not have the variable or values of it; failures to read the inputs. external:
// which files that hold values of NMB inputs may be opened.
Status sort_by_values(Communicator& ranks, const std::string& variable, ExternalPaths external,
                      std::vector<std::string>* inputs);

// Returns files that are given twice, even under different names: the indexes of the first and of
// each further one. Files that cannot be examined are left out.
std::vector<std::pair<std::size_t, std::size_t>> repeated_files(
    const std::vector<std::string>& paths);

}  // namespace nmb
