#include "tally.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "wire/joined_text.h"

namespace nmb::pnetcdf {

void write_tally(const std::string& path, MPI_Comm comm, const Tally& tally,
                 const std::string& writer) {
  // The slowest rank's seconds, and the calls and bytes of all.
  double seconds[] = {tally.define, tally.put, tally.get, tally.wait, tally.commit};
  std::uint64_t sums[] = {1, tally.puts, tally.gets, tally.put_bytes, tally.got_bytes};
  int rank = 0;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : seconds, seconds, 5, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : sums, sums, 5, MPI_UINT64_T, MPI_SUM, 0, comm);
  }
  const char* const to = std::getenv("NMB_RUN_TALLY");
  if (rank != 0 || to == nullptr) return;
  std::string line = "file ";
  for (const double one : seconds) line += std::to_string(one) + ' ';
  for (const std::uint64_t one : sums) line += std::to_string(one) + ' ';
  line += path + "\t" + writer;
  for (char& c : line)
    if (c == '\n') c = ' ';
  line += '\n';
  // One write with O_APPEND, so that lines of several processes do not mix.
  const int file = ::open(to, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    std::fputs("nmb-pnetcdf: cannot write the report\n", stderr);
  ::close(file);
}

}  // namespace nmb::pnetcdf
