// Distributes the files of a list to the processes of an MPI job, and gathers their results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nmconvert/conversion_record.h"
#include "nmconvert/file_workers.h"
#include "parallel/communicator.h"

namespace nmb::tools {

struct FileShare {
  std::size_t at = 0;        // index of the file in the list
  std::uint64_t length = 0;  // size of the input in bytes
  Conversion conversion;
  std::optional<ConversionRecord> proof;  // record of an earlier run; if the record is still true,
                                          // the conversion is not done again
};

// Distributes the files that rank 0 passes in `files`, so that all ranks get about the same number
// of bytes. Returns the files that this rank must convert, in the order of the list. Collective.
Result<std::vector<FileShare>> deal_files(Communicator& ranks, std::vector<FileShare> files);

// Returns the finished files of all ranks on rank 0, and nothing on other ranks. Collective.
Result<FileWorkers::Finished> gather_finished(Communicator& ranks, FileWorkers::Finished own);

}  // namespace nmb::tools
