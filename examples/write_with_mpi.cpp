// mpiexec -n RANKS write_with_mpi OUT.nmb EVENTS: processes write one file of graph samples
// together. No MPI is needed to build it: the library loads the one that the launcher belongs to.
// (A program with an MPI of its own hands over its communicator: nmb/mpi.h.)
#include <cstdio>
#include <cstdlib>

#include "graph_samples.h"
#include "nmb/communicator.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mpiexec -n RANKS write_with_mpi OUT.nmb EVENTS\n", stderr);
    return 2;
  }
  bool tells = true;
  auto run = [&]() -> nmb::Status {
    const auto library = nmb::launched_by();
    if (!library)
      return {nmb::Code::kUsage, "found no launcher of MPI, expected mpiexec or its like"};
    NMB_ASSIGN(const std::unique_ptr<nmb::Communicator> ranks, nmb::open_mpi_ranks(*library));
    tells = ranks->rank() == 0;  // a failure of one is the same failure of all
    const nmb::Status status =
        graph_samples::write(argv[1], *ranks, std::strtoull(argv[2], nullptr, 10));
    if (!status.ok()) ranks->fail(status);
    return status;
  };
  const nmb::Status status = run();
  if (!status.ok() && tells) std::fprintf(stderr, "write_with_mpi: %s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
}
