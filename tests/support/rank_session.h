// Programs of ranks for tests of failures: they touch every phase of a commit, and say how they
// ended. A file that they leave is compared by what it holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace nmb::test {

// Sessions by all ranks of `ranks`, each with options of its own. They go on as a program should:
// what fails between two collective calls is agreed ahead of the next, or kept by the writer.
// Blocks of each rank's own: inline values, one piece, several pieces with a map, packed; of all
// ranks one with a map and one of records.
Status create_session(Communicator& ranks, const std::string& path,
                      const FileWriterOptions& options);
// Changes, removes, renames and adds blocks and puts values, in five generations.
Status change_session(Communicator& ranks, const std::string& path,
                      const FileWriterOptions& options);

FileWriterOptions session_options(OutputLayer layer = {});

// The session's status on one rank. What it throws fails the network, as run_thread_ranks() does.
Status run_session(Communicator& ranks, const std::string& path,
                   const std::function<Status()>& session);

// Definitions of all blocks and sums of their values as text, or why there are none.
std::string content_of(const std::string& path);

// Prints `what` and ends the process unless destroyed within the time in which all ranks are to
// know of a failure.
class Watchdog {
 public:
  explicit Watchdog(const std::string& what);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace nmb::test
