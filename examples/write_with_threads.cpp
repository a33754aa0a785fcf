// write_with_threads OUT.nmb THREADS EVENTS: threads write one file of graph samples together. The
// file is the same for any number of threads.
#include <cstdio>
#include <cstdlib>

#include "graph_samples.h"
#include "parallel/communicator.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: write_with_threads OUT.nmb THREADS EVENTS\n", stderr);
    return 2;
  }
  const nmb::Status status =
      nmb::run_thread_ranks(std::atoi(argv[2]), [&](nmb::Communicator& ranks) {
        return graph_samples::write(argv[1], ranks, std::strtoull(argv[3], nullptr, 10));
      });
  if (!status.ok()) std::fprintf(stderr, "write_with_threads: %s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
}
