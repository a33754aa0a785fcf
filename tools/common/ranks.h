// The ranks of a tool that can run on several: processes if an MPI launcher started it, otherwise
// threads.
#pragma once

#include <functional>

#include "common/tool.h"
#include "nmb/communicator.h"

namespace nmb::tools {

// Which ranks are needed: any, or only those of MPI, even if there is only one.
enum class Needs { kAnyRanks, kMpi };

// Runs `body` on all ranks. parts: the number of parts into which the work can be divided; threads
// become ranks up to this number and that of -j. threads: for each rank to use; if processes are
// the ranks, 1 unless -j is given. If there are several processes, only rank 0 shows messages.
// Errors: kUsage if MPI is needed and its launcher did not start this process.
Status run_on_ranks(Tool& tool, const CLI::App& command, std::size_t parts, Needs needs,
                    const std::function<Status(Communicator& ranks, unsigned threads)>& body);

}  // namespace nmb::tools
