// Runs a tool on several ranks. Ranks are processes if an MPI launcher started the tool; otherwise
// they are threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/command_line/tool.h"
#include "parallel/communicator.h"

namespace nmb::tools {

// The kind of ranks that a tool needs. kAnyRanks: threads or processes. kMpi: MPI processes, even
// if there is only one rank.
enum class Needs { kAnyRanks, kMpi };

// Runs `body` on all ranks. `parts` is the number of parts into which the work can be divided. If
// ranks are threads, there are as many as `parts` or the value of -j, whichever is smaller, and
// with --mem at most one for each 64 MiB. `body` gets the number of threads that its rank may use;
// if ranks are processes, this is 1 unless -j is given, and only rank 0 shows messages. Errors:
// kUsage if MPI is needed and no MPI launcher started this process.
Status run_on_ranks(Tool& tool, const CLI::App& command, std::size_t parts, Needs needs,
                    const std::function<Status(Communicator& ranks, unsigned threads)>& body);

// Sends the names of the first rank to all others. The names have no NUL. Collective.
Status send_names(Communicator& ranks, std::vector<std::string>* names);

}  // namespace nmb::tools
