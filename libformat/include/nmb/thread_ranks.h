// Ranks that are threads of one process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/status.h"

namespace nmb {

// The ends of a network between `size` threads. Each may be handed to another thread. A rank whose
// end is destroyed sends nothing any more: when all that are left wait for one another, every one's
// next() fails with kUsage.
NMB_EXPORT std::vector<std::unique_ptr<Transport>> make_thread_network(int size);

// Runs `body` on `size` threads at once, each with its communicator, and waits for all. A rank that
// fails fails the network, so that nobody waits for it; returns that failure. An exception of
// `body` counts as a failure. stack: bytes for each thread, 0: the system's default. kLimit: no
// thread could be made.
NMB_EXPORT Status run_thread_ranks(int size, const std::function<Status(Communicator&)>& body,
                                   std::size_t stack = 0);

}  // namespace nmb
