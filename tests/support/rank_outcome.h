// The result of a collective call on every rank, and the files that it left in the folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb::test {

// Collective. Ok, on all ranks, if `status` has this code and the same text on every rank, and the
// text contains `said`; else what was found.
Status expect_failure_of_all(Communicator& ranks, const Status& status, Code code,
                             std::string_view said);

// Names in the folder, in order, the hidden ones too.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace nmb::test
