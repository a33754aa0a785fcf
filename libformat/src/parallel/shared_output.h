// One output file of all ranks: made by rank 0, used by every rank.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nmb/communicator.h"
#include "nmb/files.h"

namespace nmb {

// Collective. make: called on rank 0; all ranks fail if it does. attach: opens the file in another
// process by rank 0's attach_path. It is called once, when this rank first reads or writes the
// file, so that a rank that does neither never opens it. name: for messages. Threads share the file
// itself. In another process, sync() waits for the bytes that this rank wrote since the last
// sync().
Result<std::unique_ptr<OutputFile>> share_output(
    Communicator& ranks, const std::string& name,
    const std::function<Result<std::unique_ptr<OutputFile>>()>& make,
    const std::string& attach_path,
    std::function<Result<std::unique_ptr<OutputFile>>(const std::string& path)> attach);

// Returns whether this rank waits for the device before others rely on its bytes. Threads share one
// file, for which rank 0 waits.
inline bool syncs_output(const Communicator& ranks) {
  return ranks.rank() == 0 || !ranks.shares_memory();
}

}  // namespace nmb
