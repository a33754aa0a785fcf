// Distributes the files of a list to the processes of an MPI job, and gathers their results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nmb/communicator.h"
#include "nmconvert/conversion_record.h"
#include "nmconvert/file_workers.h"

namespace nmb::tools {

struct FileShare {
  std::size_t at = 0;        // its index in the list
  std::uint64_t length = 0;  // size of the input in bytes
  Conversion conversion;
  std::optional<ConversionRecord> proof;  // of a conversion that need not be done if the proof
                                          // still holds
};

// Collective. `files`: of rank 0. Each rank gets some of them, in the order of the list, with about
// as many bytes as the others.
Result<std::vector<FileShare>> deal_files(Communicator& ranks, std::vector<FileShare> files);

// Collective. Returns on rank 0 what all ranks have finished, on other ranks nothing.
Result<FileWorkers::Finished> gather_finished(Communicator& ranks, FileWorkers::Finished own);

}  // namespace nmb::tools
