// Opens one output file for all ranks. Rank 0 makes the file, and every rank uses it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "files/files.h"
#include "parallel/communicator.h"

namespace nmb {

// Collective. Returns the file for this rank. Ranks that are threads share one object. In a process
// other than rank 0's, sync() waits for the bytes that this rank wrote since the last sync(). name:
// name of the file in messages. make: a function that makes the file on rank 0; if it fails, all
// ranks fail. attach: a function that opens the file in another process, by rank 0's attach_path;
// it is called when this rank reads or writes the file for the first time.
Result<std::unique_ptr<OutputFile>> share_output(
    Communicator& ranks, const std::string& name,
    const std::function<Result<std::unique_ptr<OutputFile>>()>& make,
    const std::string& attach_path,
    std::function<Result<std::unique_ptr<OutputFile>>(const std::string& path)> attach);

// Returns whether this rank must wait until its bytes are on the device before other ranks rely on
// them. Ranks that are threads share one file, so only rank 0 waits.
inline bool syncs_output(const Communicator& ranks) {
  return ranks.rank() == 0 || !ranks.shares_memory();
}

}  // namespace nmb
