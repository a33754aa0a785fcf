// Ranks: threads of one process, or processes of an MPI job, that write or read files together.
//
//   nmb::run_threads(8, [](nmb::Ranks& ranks) {      nmb::Ranks ranks = nmb::Ranks::mpi();
//     nmb::Writer out("run.nmb", ranks);             ranks.run([&] {
//     ...                                              nmb::Writer out("run.nmb", ranks);
//   });                                                ...
//                                                    });
//
// Calls that are documented as collective must be made by all ranks, in the same order; a failure
// is the same on all ranks. If a rank gives up between two collective calls, the next collective
// call of the others fails with its reason: the exception or Status with which the work of run() or
// run_threads() ends, or the argument of fail(). A call that has returned on the rank that gives up
// still completes on the others. After such a failure, all calls of these Ranks fail. Without
// run(), call fail() where an exception is caught: the others learn of it otherwise only when this
// rank destroys its Ranks or makes another collective call, and may wait until then. Only the
// thread that made a Ranks object may use it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "nmb/error.h"

namespace nmb {

class Communicator;  // private

enum class MpiLibrary { kOpenMpi, kMpich };

class Ranks {
 public:
  // Joins the processes that an MPI launcher (mpiexec, srun) has started. Collective. The program
  // need not be linked with MPI: the library loads the plug-in for the launcher's MPI, and
  // initialises MPI if the program has not. A program with an MPI_Comm of its own uses nmb/mpi.h.
  // Errors: kUsage without a launcher; kUnsupported if the plug-in is missing or of another build.
  static Ranks mpi() { return check(try_mpi()); }
  NMB_EXPORT static Result<Ranks> try_mpi();
  // Collective over *comm, an MPI_Comm of `library`. This object keeps a duplicate of *comm.
  // Destroy this object before MPI_Finalize().
  static Ranks mpi(MpiLibrary library, const void* comm) { return check(try_mpi(library, comm)); }
  NMB_EXPORT static Result<Ranks> try_mpi(MpiLibrary library, const void* comm);
  // Returns whether an MPI launcher has started this process, by its environment.
  NMB_EXPORT static bool has_launcher();

  NMB_EXPORT Ranks(Ranks&&) noexcept;
  NMB_EXPORT Ranks& operator=(Ranks&&) noexcept;
  // Collective for MPI: waits up to 2 s for the other ranks. After that, their next collective call
  // fails.
  NMB_EXPORT ~Ranks();

  NMB_EXPORT int rank() const;
  NMB_EXPORT int size() const;

  // Runs work() on this rank, which returns nothing or a Status. A failure or an exception becomes
  // the failure of all ranks. Writers that it destroys without close() lose what they have not
  // committed; the other ranks learn of it when the work ends or calls a collective function.
  template <class Work>
  void run(Work&& work) {
    check(try_run(std::forward<Work>(work)));
  }
  template <class Work>
  Status try_run(Work&& work) {
    const Result<std::uint64_t> before = begin_work();
    return before.ok() ? end_work(caught(std::forward<Work>(work)), *before) : before.status();
  }
  // Makes the next collective call fail with `why` on all ranks; on other ranks, this is the call
  // in which they may already wait for this rank. Does nothing if `why` is ok.
  NMB_EXPORT void fail(const Status& why);
  // Returns ok if `status` is ok on all ranks, and otherwise the failure of the lowest rank that
  // has one. Collective. The ranks can go on together after a failure.
  NMB_EXPORT Status agree(const Status& status);
  // Returns when all ranks have called it. Collective.
  void barrier() { check(try_barrier()); }
  NMB_EXPORT Status try_barrier();

 private:
  // Returns the number of collective calls that have failed on all ranks.
  NMB_EXPORT Result<std::uint64_t> begin_work();
  // Makes the failure of this rank's work the failure of all ranks. before: the result of
  // begin_work().
  NMB_EXPORT Status end_work(const Status& status, std::uint64_t before);
  friend Communicator& communicator(Ranks& ranks);
  friend Status try_run_threads(int, const std::function<Status(Ranks&)>&);
  Communicator& use() const;
  explicit Ranks(std::unique_ptr<Communicator> own);
  explicit Ranks(Communicator* lent);
  std::unique_ptr<Communicator> own_;
  Communicator* ranks_ = nullptr;
};

// Runs `work` on `size` threads, each as one rank, and waits for all of them. If a rank fails, all
// do, with the same failure. Errors: kUsage if `size` is less than 1; kLimit if a thread cannot be
// made; those of `work`, which returns nothing or a Status.
NMB_EXPORT Status try_run_threads(int size, const std::function<Status(Ranks&)>& work);
template <class Work>
void run_threads(int size, Work work) {
  check(try_run_threads(size, [&](Ranks& ranks) { return caught([&] { return work(ranks); }); }));
}

}  // namespace nmb
