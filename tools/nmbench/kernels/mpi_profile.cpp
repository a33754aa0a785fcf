// Counts the MPI calls of this process by MPI's profiling interface: each function takes the place
// of MPI's own, and calls it by its name with the prefix PMPI_. Libraries that are loaded later
// find these functions too, because the executable exports them.
#include <mpi.h>

#include <chrono>

#include "meter.h"

namespace nmb::bench {

namespace {

MpiUse use;

class Timed {
 public:
  explicit Timed(double* sum) : sum_(depth_++ == 0 ? sum : nullptr), start_(Clock::now()) {}
  ~Timed() {
    --depth_;
    if (sum_) *sum_ += std::chrono::duration<double>(Clock::now() - start_).count();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  inline static int depth_ = 0;  // calls within calls are counted once
  double* sum_;
  Clock::time_point start_;
};

std::uint64_t bytes_of(int count, MPI_Datatype type) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size < 0 ? 0 : size);
}

void sends(std::uint64_t bytes) {
  ++use.messages;
  use.sent_bytes += bytes;
}
void takes_part(std::uint64_t bytes) {
  ++use.collectives;
  use.sent_bytes += bytes;
}
int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

MpiUse mpi_use() { return use; }

}  // namespace nmb::bench

using nmb::bench::bytes_of;
using nmb::bench::rank_in;
using nmb::bench::sends;
using nmb::bench::takes_part;
using nmb::bench::Timed;
using nmb::bench::use;

#define NMBENCH_COMMUNICATES const Timed timed(&use.seconds)
#define NMBENCH_FILE const Timed timed(&use.file_seconds)
#define NMBENCH_EXPORT __attribute__((visibility("default")))

extern "C" {

// --- from one process to another ---
NMBENCH_EXPORT int MPI_Send(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  sends(bytes_of(n, t));
  return PMPI_Send(b, n, t, to, tag, c);
}
NMBENCH_EXPORT int MPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
                             MPI_Request* r) {
  NMBENCH_COMMUNICATES;
  sends(bytes_of(n, t));
  return PMPI_Isend(b, n, t, to, tag, c, r);
}
NMBENCH_EXPORT int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int to, int tag, void* in,
                                int m, MPI_Datatype u, int from, int tag2, MPI_Comm c,
                                MPI_Status* s) {
  NMBENCH_COMMUNICATES;
  sends(bytes_of(n, t));
  return PMPI_Sendrecv(b, n, t, to, tag, in, m, u, from, tag2, c, s);
}
NMBENCH_EXPORT int MPI_Recv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
                            MPI_Status* s) {
  NMBENCH_COMMUNICATES;
  return PMPI_Recv(b, n, t, from, tag, c, s);
}
NMBENCH_EXPORT int MPI_Imrecv(void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* r) {
  NMBENCH_COMMUNICATES;
  return PMPI_Imrecv(b, n, t, m, r);
}
NMBENCH_EXPORT int MPI_Improbe(int from, int tag, MPI_Comm c, int* flag, MPI_Message* m,
                               MPI_Status* s) {
  NMBENCH_COMMUNICATES;
  return PMPI_Improbe(from, tag, c, flag, m, s);
}
NMBENCH_EXPORT int MPI_Test(MPI_Request* r, int* flag, MPI_Status* s) {
  NMBENCH_COMMUNICATES;
  return PMPI_Test(r, flag, s);
}
NMBENCH_EXPORT int MPI_Testsome(int n, MPI_Request r[], int* m, int at[], MPI_Status s[]) {
  NMBENCH_COMMUNICATES;
  return PMPI_Testsome(n, r, m, at, s);
}
NMBENCH_EXPORT int MPI_Wait(MPI_Request* r, MPI_Status* s) {
  NMBENCH_COMMUNICATES;
  return PMPI_Wait(r, s);
}
NMBENCH_EXPORT int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
  NMBENCH_COMMUNICATES;
  return PMPI_Waitall(n, r, s);
}

// --- all processes ---
NMBENCH_EXPORT int MPI_Barrier(MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(0);
  return PMPI_Barrier(c);
}
NMBENCH_EXPORT int MPI_Ibarrier(MPI_Comm c, MPI_Request* r) {
  NMBENCH_COMMUNICATES;
  takes_part(0);
  return PMPI_Ibarrier(c, r);
}
NMBENCH_EXPORT int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(rank_in(c) == root ? bytes_of(n, t) : 0);
  return PMPI_Bcast(b, n, t, root, c);
}
NMBENCH_EXPORT int MPI_Reduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, int root,
                              MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Reduce(a, b, n, t, op, root, c);
}
NMBENCH_EXPORT int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op op,
                                 MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Allreduce(a, b, n, t, op, c);
}
NMBENCH_EXPORT int MPI_Scan(const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Scan(a, b, n, t, op, c);
}
NMBENCH_EXPORT int MPI_Exscan(const void* a, void* b, int n, MPI_Datatype t, MPI_Op op,
                              MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Exscan(a, b, n, t, op, c);
}
NMBENCH_EXPORT int MPI_Gather(const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u,
                              int root, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Gather(a, n, t, b, m, u, root, c);
}
NMBENCH_EXPORT int MPI_Gatherv(const void* a, int n, MPI_Datatype t, void* b, const int m[],
                               const int at[], MPI_Datatype u, int root, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Gatherv(a, n, t, b, m, at, u, root, c);
}
NMBENCH_EXPORT int MPI_Allgather(const void* a, int n, MPI_Datatype t, void* b, int m,
                                 MPI_Datatype u, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Allgather(a, n, t, b, m, u, c);
}
NMBENCH_EXPORT int MPI_Allgatherv(const void* a, int n, MPI_Datatype t, void* b, const int m[],
                                  const int at[], MPI_Datatype u, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  takes_part(bytes_of(n, t));
  return PMPI_Allgatherv(a, n, t, b, m, at, u, c);
}
NMBENCH_EXPORT int MPI_Alltoall(const void* a, int n, MPI_Datatype t, void* b, int m,
                                MPI_Datatype u, MPI_Comm c) {
  NMBENCH_COMMUNICATES;
  int size = 1;
  PMPI_Comm_size(c, &size);
  takes_part(bytes_of(n, t) * static_cast<std::uint64_t>(size));
  return PMPI_Alltoall(a, n, t, b, m, u, c);
}

// --- files ---
#define NMBENCH_FILE_CALL(name, constant)                                                 \
  NMBENCH_EXPORT int MPI_File_##name(MPI_File f, constant void* b, int n, MPI_Datatype t, \
                                     MPI_Status* s) {                                     \
    NMBENCH_FILE;                                                                         \
    ++use.file_calls;                                                                     \
    return PMPI_File_##name(f, b, n, t, s);                                               \
  }
#define NMBENCH_FILE_CALL_AT(name, constant)                                             \
  NMBENCH_EXPORT int MPI_File_##name(MPI_File f, MPI_Offset at, constant void* b, int n, \
                                     MPI_Datatype t, MPI_Status* s) {                    \
    NMBENCH_FILE;                                                                        \
    ++use.file_calls;                                                                    \
    return PMPI_File_##name(f, at, b, n, t, s);                                          \
  }
NMBENCH_FILE_CALL(read, )
NMBENCH_FILE_CALL(read_all, )
NMBENCH_FILE_CALL(write, const)
NMBENCH_FILE_CALL(write_all, const)
NMBENCH_FILE_CALL_AT(read_at, )
NMBENCH_FILE_CALL_AT(read_at_all, )
NMBENCH_FILE_CALL_AT(write_at, const)
NMBENCH_FILE_CALL_AT(write_at_all, const)

NMBENCH_EXPORT int MPI_File_sync(MPI_File f) {
  NMBENCH_FILE;
  return PMPI_File_sync(f);
}

}  // extern "C"
