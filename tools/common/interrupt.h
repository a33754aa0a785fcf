// Interrupts: SIGHUP, SIGINT and SIGTERM set a flag. Long operations check this flag; if it is set,
// they clean up and stop.
#pragma once

#include <atomic>

namespace nmb::tools {

// After this call, the first SIGHUP, SIGINT or SIGTERM only sets the returned flag; a second signal
// ends the process. A SIGHUP that is ignored stays ignored. Only tools that write files should call
// this; other tools should end at once.
const std::atomic<bool>* catch_interrupts();

// Returns the exit code for the received signal (129, 130 or 143), or 0 if there was none. If the
// tool has already done all its work, the caller ignores this exit code. For example, the signal
// may arrive after the output has received its name.
int interrupted_exit();

}  // namespace nmb::tools
