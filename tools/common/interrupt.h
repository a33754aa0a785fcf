// Interrupts: SIGINT and SIGTERM set a flag that work looks at, so that it ends tidily.
#pragma once

#include <atomic>

namespace nmb::tools {

// From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the process. For
// tools that write: others are best ended at once.
const std::atomic<bool>* catch_interrupts();

// The exit code for the signal that came (130, 143), 0 if none did. Of a tool that did not finish:
// a signal that comes once the output has its name changes nothing.
int interrupted_exit();

}  // namespace nmb::tools
