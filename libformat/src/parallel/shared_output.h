// One output file of all ranks: made by rank 0, used by every rank.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nmb/communicator.h"
#include "nmb/output_file.h"

namespace nmb {

// Collective. make: called on rank 0, or where there is one rank. attach: called on other
// processes, with rank 0's attach_path. Threads share the file itself. All ranks fail if one does.
Result<std::unique_ptr<OutputFile>> share_output(
    Communicator& ranks, const std::function<Result<std::unique_ptr<OutputFile>>()>& make,
    const std::string& attach_path,
    const std::function<Result<std::unique_ptr<OutputFile>>(const std::string& path)>& attach);

}  // namespace nmb
