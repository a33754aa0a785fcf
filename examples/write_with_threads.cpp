// write_with_threads OUT.nmb THREADS EVENTS: threads write one file of graph samples together. The
// file is the same for any number of threads.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "graph_samples.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: write_with_threads OUT.nmb THREADS EVENTS\n", stderr);
    return 2;
  }
  try {
    nmb::run_threads(std::atoi(argv[2]), [&](nmb::Ranks& ranks) {
      graph_samples::write(argv[1], ranks, std::strtoull(argv[3], nullptr, 10));
    });
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_with_threads: %s\n", error.what());
    return 1;
  }
}
