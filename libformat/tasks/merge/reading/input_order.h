// Sorts inputs by a value in each input, and finds inputs that are given twice.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/external_files.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// Collective. Sorts `inputs` by the first value of a numeric variable in each input. Inputs with
// equal values keep their order; inputs in which the variable has no values come last. variable:
// path of the block and name of the variable. external: which other files may be opened if an NMB
// input stores values in them. by_date: whether times that count from different days are compared
// by their dates. All ranks return the same errors: kConflict if an input has no such variable or
// its first value is NaN, and errors in reading the inputs.
Status sort_by_values(Communicator& ranks, const std::string& variable, ExternalPaths external,
                      bool by_date, std::vector<std::string>* inputs);

// Finds files that are given more than once, even under different names. For each repetition,
// returns the index of the first path to the file and the index of the repeated path. Files that
// cannot be examined are left out.
std::vector<std::pair<std::size_t, std::size_t>> repeated_files(
    const std::vector<std::string>& paths);

}  // namespace nmb
