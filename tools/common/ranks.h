// Runs a tool on several ranks. Ranks are processes if an MPI launcher started the tool; otherwise
// they are threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/tool.h"
#include "parallel/communicator.h"

namespace nmb::tools {

// The kind of ranks that a tool needs. kAnyRanks: threads or processes. kMpi: MPI processes, even
// if there is only one rank.
enum class Needs { kAnyRanks, kMpi };

// Runs `body` on all ranks. `parts` is the number of parts into which the work can be divided. If
// ranks are threads, the number of ranks is the smaller of `parts` and the value of -j, and with
// --mem at most one for each 64 MiB. `body` gets the number of threads that its rank may use. If
// ranks are processes, a rank may use 1 thread unless -j is given. If there are several processes,
// only rank 0 shows messages. Errors: kUsage if MPI is needed and no MPI launcher started this
// process.
Status run_on_ranks(Tool& tool, const CLI::App& command, std::size_t parts, Needs needs,
                    const std::function<Status(Communicator& ranks, unsigned threads)>& body);

// Sends the names of the first rank to all others. The names have no NUL. Collective.
Status send_names(Communicator& ranks, std::vector<std::string>* names);

}  // namespace nmb::tools
