// mpiexec -n RANKS write_with_mpi OUT.nmb EVENTS: the processes of an MPI job write one file of
// graph samples together. The program is built without MPI, because libnmb loads the MPI library to
// which the launcher belongs. A program that uses MPI itself can pass its own communicator to
// libnmb (nmb/mpi.h).
#include <cstdio>
#include <cstdlib>

#include "graph_samples.h"
#include "parallel/communicator.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mpiexec -n RANKS write_with_mpi OUT.nmb EVENTS\n", stderr);
    return 2;
  }
  bool tells = true;
  auto run = [&]() -> nmb::Status {
    const auto library = nmb::launched_by();
    if (!library)
      return {nmb::Code::kUsage, "no MPI launcher started this program; start it with mpiexec"};
    NMB_ASSIGN(const std::unique_ptr<nmb::Communicator> ranks, nmb::open_mpi_ranks(*library));
    tells = ranks->rank() == 0;  // all ranks get the same failure, so only one rank prints it
    const nmb::Status status =
        graph_samples::write(argv[1], *ranks, std::strtoull(argv[2], nullptr, 10));
    if (!status.ok()) ranks->fail(status);
    return status;
  };
  const nmb::Status status = run();
  if (!status.ok() && tells) std::fprintf(stderr, "write_with_mpi: %s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
}
