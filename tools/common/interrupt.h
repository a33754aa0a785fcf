// Interrupts: SIGINT and SIGTERM set a flag, which long operations check so that they can clean up.
#pragma once

#include <atomic>

namespace nmb::tools {

// From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the process. For
// tools that write; others should end at once.
const std::atomic<bool>* catch_interrupts();

// Returns the exit code for the received signal (130, 143), or 0. It applies to a tool that did not
// finish: a signal that arrives after the output got its name changes nothing.
int interrupted_exit();

}  // namespace nmb::tools
