// Tally: the cost of a file's calls, for nmb-run --report.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace nmb::pnetcdf {

struct Tally {
  // Seconds of this rank.
  double define = 0, put = 0, get = 0, wait = 0, commit = 0;
  std::uint64_t puts = 0, gets = 0;
  std::uint64_t put_bytes = 0, got_bytes = 0;

  class Span {
   public:
    explicit Span(double* sum) : sum_(sum), begin_(std::chrono::steady_clock::now()) {}
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span() {
      *sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

   private:
    double* sum_;
    std::chrono::steady_clock::time_point begin_;
  };
};

// Adds up the tallies of all ranks. Rank 0 appends a line to the file that nmb-run reads, if the
// program runs under it. comm: MPI_COMM_NULL for one rank. Collective.
void write_tally(const std::string& path, MPI_Comm comm, const Tally& tally,
                 const std::string& writer);

}  // namespace nmb::pnetcdf
