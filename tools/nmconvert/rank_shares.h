// The files of a list, dealt to the processes of an MPI job, and what these made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nmb/communicator.h"
#include "nmconvert/conversion_record.h"
#include "nmconvert/file_workers.h"

namespace nmb::tools {

struct FileShare {
  std::size_t at = 0;        // its place in the list
  std::uint64_t length = 0;  // of the input, in bytes
  Conversion conversion;
  std::optional<ConversionRecord> proof;  // that it was done, if it still holds
};

// Collective. `files` of rank 0: each rank gets some, in the order of the list, of about as many
// bytes as the others.
Result<std::vector<FileShare>> deal_files(Communicator& ranks, std::vector<FileShare> files);

// Collective. On rank 0 what all ranks have finished, else nothing.
Result<FileWorkers::Finished> gather_finished(Communicator& ranks, FileWorkers::Finished own);

}  // namespace nmb::tools
