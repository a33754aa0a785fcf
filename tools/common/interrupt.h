// Interrupts: SIGINT and SIGTERM set a flag, which long operations check so that they can clean up.
#pragma once

#include <atomic>

namespace nmb::tools {

// After this call, the first SIGINT or SIGTERM only sets the returned flag; a second signal ends
// the process. Only tools that write files should call this; other tools should end at once.
const std::atomic<bool>* catch_interrupts();

// Returns the exit code for the received signal (130 or 143), or 0 if there was none. The caller
// ignores this code if the tool has finished: a signal that arrives after the output got its name
// changes nothing.
int interrupted_exit();

}  // namespace nmb::tools
