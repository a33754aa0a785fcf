#include "nmb/ranks.h"

#include "handles/handle_parts.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

Ranks::Ranks(std::unique_ptr<Communicator> own) : own_(std::move(own)), ranks_(own_.get()) {}
Ranks::Ranks(Communicator* lent) : ranks_(lent) {}
Ranks::Ranks(Ranks&& other) noexcept
    : own_(std::move(other.own_)), ranks_(std::exchange(other.ranks_, nullptr)) {}
Ranks& Ranks::operator=(Ranks&& other) noexcept {
  if (this == &other) return *this;
  own_ = std::move(other.own_);
  ranks_ = std::exchange(other.ranks_, nullptr);
  return *this;
}
Ranks::~Ranks() = default;

Communicator& communicator(Ranks& ranks) { return ranks.use(); }
Communicator& Ranks::use() const {
  check(check_handle(ranks_));
  return *ranks_;
}

bool Ranks::has_launcher() { return launched_by().has_value(); }

Result<Ranks> Ranks::try_mpi() {
  const std::optional<MpiLibrary> launcher = launched_by();
  if (!launcher)
    return Status(Code::kUsage, "no MPI launcher started this program; start it with mpiexec");
  return try_mpi(*launcher, nullptr);
}

Result<Ranks> Ranks::try_mpi(MpiLibrary library, const void* comm) {
  NMB_ASSIGN(std::unique_ptr<Communicator> ranks, open_mpi_ranks(library, comm));
  return Ranks(std::move(ranks));
}

int Ranks::rank() const { return use().rank(); }
int Ranks::size() const { return use().size(); }
void Ranks::fail(const Status& why) {
  Communicator& ranks = use();
  if (!why.ok()) ranks.fail(why.on_rank(rank()));
}
Result<std::uint64_t> Ranks::begin_work() {
  NMB_TRY(check_handle(ranks_));
  return ranks_->begin_work();
}
Status Ranks::end_work(const Status& status, std::uint64_t before) {
  NMB_TRY(check_handle(ranks_));
  return ranks_->end_work(status, before);
}
Status Ranks::agree(const Status& status) {
  NMB_TRY(check_handle(ranks_));
  return ranks_->agree(status);
}
Status Ranks::try_barrier() {
  NMB_TRY(check_handle(ranks_));
  return ranks_->barrier();
}

Status try_run_threads(int size, const std::function<Status(Ranks&)>& work) {
  if (size < 1)
    return Status(Code::kUsage, joined_text("found ", size, " threads, expected at least 1"));
  return run_thread_ranks(size, [&](Communicator& communicator) {
    Ranks ranks(&communicator);
    const std::uint64_t before = communicator.begin_work();
    return communicator.end_work(caught([&] { return work(ranks); }), before);
  });
}

}  // namespace nmb
