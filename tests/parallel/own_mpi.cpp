// A program that has MPI itself: two networks on the halves of its processes, one after the other
// and beside its own messages; it initialises MPI and finalises it. Exit code 1: what it printed.
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "handles/handle_parts.h"
#include "nmb/mpi.h"
#include "nmb/writer.h"
#include "writer/file_writer.h"

namespace {

nmb::Status check_sum(nmb::Communicator& ranks, MPI_Comm half) {
  int size = 0;
  MPI_Comm_size(half, &size);
  if (ranks.size() != size) return {nmb::Code::kUsage, "found another number of ranks"};
  // A message of the program's own is on the way while the library's are.
  int sent = ranks.rank(), arrived = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&sent, 1, MPI_INT, (ranks.rank() + 1) % size, 0, half, &request);
  NMB_ASSIGN(const int sum, ranks.all_reduce(ranks.rank(), std::plus<>()));
  MPI_Recv(&arrived, 1, MPI_INT, (ranks.rank() + size - 1) % size, 0, half, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum != size * (size - 1) / 2) return {nmb::Code::kUsage, "found another sum of ranks"};
  if (arrived != (ranks.rank() + size - 1) % size)
    return {nmb::Code::kUsage, "found another message"};
  return {};
}

// MPI_Init() allows calls by one thread only.
nmb::Status check_threads_of_mpi_io(nmb::Communicator& ranks) {
  nmb::FileWriterOptions options;
  options.io = nmb::Io::kMpiIo;
  options.threads = 2;
  const nmb::Status status = nmb::FileWriter::create("own_mpi.nmb", options, ranks).status();
  if (status.code() != nmb::Code::kUsage ||
      status.text().find("needs MPI_THREAD_SERIALIZED") == std::string::npos)
    return {nmb::Code::kUsage, "found several threads taken: " + status.text()};
  return {};
}

// A rank unwinds without Ranks::run(), with a writer or without: the others do not wait for it.
nmb::Status check_unwinding(MPI_Comm half, bool with_writer) {
  int rank = 0, size = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  nmb::Status status;
  try {
    NMB_ASSIGN(nmb::Ranks ranks, nmb::try_mpi_ranks(half));
    if (rank == 1) ranks.fail(nmb::Status());  // an ok status is no failure
    NMB_TRY(ranks.try_barrier());
    if (!with_writer && rank == 1) throw std::runtime_error("diverged");
    if (with_writer) {
      nmb::Writer out("own_mpi.nmb", ranks);
      if (rank == 1) throw std::runtime_error("diverged");
      status = out.try_end_define();
    } else {
      status = ranks.try_barrier();
    }
  } catch (const std::runtime_error&) {
    return rank == 1 ? nmb::Status() : nmb::Status(nmb::Code::kUsage, "found an exception");
  }
  const char* const reason =
      with_writer ? "writer of rank 1 was destroyed" : "rank 1 destroyed its Ranks before";
  if (size == 1 || status.text().find(reason) != std::string::npos) return {};
  return {nmb::Code::kUsage, "found another failure: " + status.text()};
}

nmb::Status run() {
  if (const auto none = nmb::try_mpi_ranks(MPI_COMM_NULL);
      none.ok() || none.status().code() != nmb::Code::kUsage)
    return {nmb::Code::kUsage, "found MPI_COMM_NULL taken"};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int round = 0; round < 2; ++round) {
    NMB_ASSIGN(nmb::Ranks ranks, nmb::try_mpi_ranks(half));
    NMB_TRY(check_sum(communicator(ranks), half));
  }
  NMB_ASSIGN(nmb::Ranks ranks, nmb::try_mpi_ranks(half));
  NMB_TRY(check_threads_of_mpi_io(communicator(ranks)));
  for (const bool with_writer : {false, true}) {
    MPI_Barrier(half);
    NMB_TRY(check_unwinding(half, with_writer));
  }
  MPI_Comm_free(&half);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const nmb::Status status = run();
  if (!status.ok()) std::fprintf(stderr, "own_mpi: %s\n", status.text().c_str());
  MPI_Finalize();
  return status.ok() ? 0 : 1;
}
