// mpiexec -n RANKS write_with_mpi OUT.nmb EVENTS: the processes of an MPI job write one file of
// graph samples together. The program is built without MPI, because libnmb loads the MPI library to
// which the launcher belongs. A program that uses MPI itself can pass its own communicator to
// libnmb (nmb/mpi.h).
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "graph_samples.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mpiexec -n RANKS write_with_mpi OUT.nmb EVENTS\n", stderr);
    return 2;
  }
  bool tells = true;
  try {
    nmb::Ranks ranks = nmb::Ranks::mpi();
    tells = ranks.rank() == 0;  // all ranks get the same failure, so only one rank prints it
    ranks.run([&] { graph_samples::write(argv[1], ranks, std::strtoull(argv[2], nullptr, 10)); });
    return 0;
  } catch (const std::exception& error) {
    if (tells) std::fprintf(stderr, "write_with_mpi: %s\n", error.what());
    return 1;
  }
}
