// The ranks of a tool that several can run: processes where an MPI launcher started it, else
// threads.
#pragma once

#include <functional>

#include "common/tool.h"
#include "nmb/communicator.h"

namespace nmb::tools {

// What the ranks must be of: any are good, or only those of MPI, though it be one.
enum class Needs { kAnyRanks, kMpi };

// Runs `body` on all ranks. parts: what can be dealt to ranks; no more threads than that, nor than
// -j says, are ranks. threads: for each rank's own use; where processes are the ranks, one unless
// -j is given. Of several processes only rank 0 says anything. kUsage: MPI is needed and its
// launcher did not start this process.
Status run_on_ranks(Tool& tool, const CLI::App& command, std::size_t parts, Needs needs,
                    const std::function<Status(Communicator& ranks, unsigned threads)>& body);

}  // namespace nmb::tools
