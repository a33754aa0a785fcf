// Interrupts: SIGHUP, SIGINT and SIGTERM set a flag. Long operations check this flag, and clean up
// and stop if it is set.
#pragma once

#include <atomic>

namespace nmb::tools {

// After this call, the first SIGHUP, SIGINT or SIGTERM only sets the returned flag; a second signal
// ends the process. A SIGHUP that is ignored stays ignored. Only tools that write files should call
// this; other tools should end at once.
const std::atomic<bool>* catch_interrupts();

// Returns the exit code for the received signal (129, 130 or 143), or 0 if there was none. The
// caller ignores the exit code if the tool has already done all its work, for example if the signal
// arrives after the output has received its name.
int interrupted_exit();

}  // namespace nmb::tools
