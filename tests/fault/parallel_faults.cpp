// parallel_faults [--threads P] [--rounds N] [--seed S] [--memory] [--mpiio]: sessions of P
// threads, or of the processes of an MPI job (--mpiio: that write by MPI-IO), in which a call of a
// rank chosen at random fails: one that changes or reads the file, or an allocation (--memory:
// always). All ranks must have the same error in time, and the file be as it was or whole. Prints
// what was not so; exit code 1 then, 2 if it could not run.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "fault/failing_new.h"
#include "parallel/communicator.h"
#include "parallel/mpi_plugin.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"
#include "support/rank_session.h"

namespace nmb::test {
namespace {

namespace fs = std::filesystem;

struct Options {
  int threads = 0;  // 0: an MPI job
  int rounds = 20;
  std::uint64_t seed = 1;
  bool memory = false;
  Io io = Io::kPosix;
};

// A network for each round, since a failed one is of no more use.
class Networks {
 public:
  explicit Networks(int threads) : threads_(threads) {}
  // Collective; `ranks`: those of the program.
  Result<std::unique_ptr<Transport>> open(Communicator& ranks) {
    if (threads_ == 0) return open_mpi_transport(*launched_by(), nullptr);
    if (ranks.rank() == 0) ends_ = make_thread_network(threads_);
    NMB_TRY(ranks.barrier());
    return std::move(ends_[static_cast<std::size_t>(ranks.rank())]);
  }

 private:
  int threads_;
  std::vector<std::unique_ptr<Transport>> ends_;
};

enum class Kind { kOnce, kForEver, kShort, kRead, kThrow, kMemory };
constexpr std::array kKinds{"once", "for ever", "short", "read", "exception", "memory"};

// The operation that fails in a round: the same on all ranks.
struct Failure {
  Kind kind = Kind::kOnce;
  bool creates = false;
  bool target = false;  // there is a target already
  int rank = 0;
  std::uint64_t call = ~std::uint64_t{0};

  Fault fault() const {
    Fault fault;
    fault.reads = kind == Kind::kRead;
    if (kind != Kind::kMemory) fault.call = call;
    fault.code = code();
    fault.how = kind == Kind::kForEver ? Fault::How::kForEver
                : kind == Kind::kShort ? Fault::How::kShort
                : kind == Kind::kThrow ? Fault::How::kThrow
                                       : Fault::How::kOnce;
    return fault;
  }
  Code code() const {
    if (kind == Kind::kMemory) return Code::kLimit;
    if (kind == Kind::kThrow) return Code::kUsage;
    return kind == Kind::kOnce || kind == Kind::kRead ? Code::kIo : Code::kNoSpace;
  }
  std::string text() const {
    return std::string(creates ? "create" : "change") + ", " +
           kKinds[static_cast<std::size_t>(kind)] + ", rank " + std::to_string(rank) + ", call " +
           std::to_string(call);
  }
};

constexpr std::string_view kOldTarget = "an old target";

class Rank {
 public:
  // In folders of their own: the file, and one that it is copied from.
  Rank(Communicator& ranks, Networks& networks, const RankFolder& folder, const RankFolder& base,
       Io io)
      : ranks_(ranks),
        networks_(networks),
        io_(io),
        path_(folder.file("f.nmb")),
        base_(base.file("f.nmb")) {}

  Status run(const Options& options);

 private:
  Status prepare(const Failure& failure);
  // Calls, or allocations, that this rank makes.
  Result<std::uint64_t> run_session_of(const Failure& failure, Status* status);
  Status judge(const Failure& failure, const Status& status, std::uint64_t calls);
  Status judge_file(const Failure& failure, bool done);

  Communicator& ranks_;
  Networks& networks_;
  Io io_;
  std::string path_, base_;
  std::string created_, changed_;  // what the file holds after a session
};

Status Rank::prepare(const Failure& failure) {
  if (ranks_.rank() == 0) {
    fs::remove(path_);
    if (!failure.creates)
      fs::copy_file(base_, path_, fs::copy_options::overwrite_existing);
    else if (failure.target)
      write_file(path_, kOldTarget);
  }
  return ranks_.barrier();
}

Result<std::uint64_t> Rank::run_session_of(const Failure& failure, Status* status) {
  std::optional<Watchdog> watchdog;
  if (ranks_.rank() == 0 || !ranks_.shares_memory()) watchdog.emplace(failure.text());
  NMB_ASSIGN(std::unique_ptr<Transport> transport, networks_.open(ranks_));
  Fault fault = failure.fault();
  if (ranks_.rank() != failure.rank) fault.call = ~std::uint64_t{0};
  FileWriterOptions options = session_options(fault.layer());
  options.io = io_;
  std::uint64_t allocations = 0;
  {
    Communicator session_ranks(std::move(transport));
    *status = run_session(session_ranks, path_, [&]() -> Status {
      const bool fails = failure.kind == Kind::kMemory && ranks_.rank() == failure.rank;
      fail_allocation(fails ? failure.call : ~std::uint64_t{0});
      return failure.creates ? create_session(session_ranks, path_, options)
                             : change_session(session_ranks, path_, options);
    });
    allocations = stop_failing();
  }
  NMB_TRY(ranks_.barrier());
  return failure.kind == Kind::kMemory ? allocations : fault.calls;
}

// All have the same failure. But what fails while the last word of the last call is on its way
// finds some of the ranks done; and not every session makes a rank's last call.
Status Rank::judge(const Failure& failure, const Status& status, std::uint64_t calls) {
  NMB_ASSIGN(const bool failed, ranks_.broadcast_value(failure.rank, calls > failure.call));
  NMB_ASSIGN(const int done, ranks_.all_reduce(status.ok() ? 1 : 0, std::plus<>()));
  const bool whole = failed ? failure.kind == Kind::kMemory && done > 0 : done == ranks_.size();
  if (!whole)
    NMB_TRY(
        expect_failure_of_all(ranks_, status, failure.code(),
                              ranks_.size() == 1 ? "" : "on rank " + std::to_string(failure.rank)));
  return ranks_.agree(ranks_.rank() == 0 ? judge_file(failure, whole) : Status());
}

Status Rank::judge_file(const Failure& failure, bool done) {
  const std::string& after = failure.creates ? created_ : changed_;
  const bool there = fs::exists(path_);
  const std::vector<std::string> names = names_in(fs::path(path_).parent_path());
  NMB_TRY(expect(names == (there ? std::vector<std::string>{"f.nmb"} : std::vector<std::string>{}),
                 "no other file"));
  if (done)
    return expect(there && content_of(path_) == after, "the file of a session that is done");
  const std::string content = there ? content_of(path_) : "";
  // Allocations fail behind the last change of the file, too.
  if (failure.kind == Kind::kMemory && content == after) return {};
  if (failure.creates && !failure.target) return expect(!there, "no file");
  if (failure.creates)
    return expect(read_file(path_).size() == kOldTarget.size(), "the old target");
  // A generation of those that a change makes.
  NMB_TRY(expect(content.rfind("cannot read", 0) != 0, "a sound file, not " + content));
  // A commit whose slot could not be written is whole but for that: the next writer adopts it.
  const bool pending = findings_of(fs::path(path_)).find("R-SB-13") != std::string::npos;
  NMB_TRY(FileWriter::open(path_, session_options()).status());
  NMB_TRY(expect(pending || content_of(path_) == content, "the same when it is opened again"));
  // Bytes that the writer could not remove stay until the next commit records them.
  const std::string findings = findings_of(fs::path(path_), {"R-FL-2"});
  return expect(findings.empty(), "no findings, not " + findings);
}

Status Rank::run(const Options& options) {
  // Sessions without failures: what they leave, and how many calls each rank makes.
  std::array<std::array<std::uint64_t, 2>, kKinds.size()> calls{};
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (const bool creates : {true, false}) {
      Failure none{
          .kind = static_cast<Kind>(kind), .creates = creates, .target = false, .rank = -1};
      NMB_TRY(prepare(none));
      Status status;
      NMB_ASSIGN(calls[kind][creates], run_session_of(none, &status));
      NMB_TRY(ranks_.agree(status));
      if (ranks_.rank() == 0) {
        (creates ? created_ : changed_) = content_of(path_);
        if (creates) fs::copy_file(path_, base_, fs::copy_options::overwrite_existing);
      }
      NMB_TRY(ranks_.barrier());
    }
  }
  std::mt19937_64 random(options.seed);
  for (int round = 0; round < options.rounds; ++round) {
    Failure failure;
    failure.kind = options.memory ? Kind::kMemory : static_cast<Kind>(random() % kKinds.size());
    failure.creates = random() % 2 == 0;
    failure.target = random() % 2 == 0;
    failure.rank = static_cast<int>(random() % static_cast<std::uint64_t>(ranks_.size()));
    const std::uint64_t own = calls[static_cast<std::size_t>(failure.kind)][failure.creates];
    NMB_ASSIGN(const std::uint64_t count, ranks_.broadcast_value(failure.rank, own));
    failure.call = random() % count;
    NMB_TRY(prepare(failure));
    Status status;
    NMB_ASSIGN(const std::uint64_t made, run_session_of(failure, &status));
    const Status judged = judge(failure, status, made);
    if (!judged.ok())
      return Status(judged.code(), "round " + std::to_string(round) + ", " + failure.text() + ": " +
                                       judged.text());
  }
  return {};
}

Status run_rank(Communicator& ranks, Networks& networks, const Options& options) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(const RankFolder base, RankFolder::make(ranks));
  return Rank(ranks, networks, folder, base, options.io).run(options);
}

int say(const Status& status, int code) {
  std::fprintf(stderr, "parallel_faults: %s\n", status.text().c_str());
  return code;
}

int run_program(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const int value = i + 1 < arguments.size() ? std::atoi(arguments[i + 1].c_str()) : 0;
    if (arguments[i] == "--memory")
      options.memory = true;
    else if (arguments[i] == "--mpiio")
      options.io = Io::kMpiIo;
    else if (arguments[i] == "--threads" && value > 0)
      options.threads = value, ++i;
    else if (arguments[i] == "--rounds" && value > 0)
      options.rounds = value, ++i;
    else if (arguments[i] == "--seed" && value > 0)
      options.seed = static_cast<std::uint64_t>(value), ++i;
    else
      return say(Status(Code::kUsage, "found argument " + arguments[i]), 2);
  }
  Networks networks(options.threads);
  if (options.threads > 0) {
    const Status status = run_thread_ranks(
        options.threads, [&](Communicator& ranks) { return run_rank(ranks, networks, options); });
    return status.ok() ? 0 : say(status, 1);
  }
  if (!launched_by())
    return say(Status(Code::kUsage, "found no launcher of MPI, expected one or --threads P"), 2);
  Result<std::unique_ptr<Communicator>> ranks = open_mpi_ranks(*launched_by());
  if (!ranks.ok()) return say(ranks.status(), 2);
  const Status status = run_rank(**ranks, networks, options);
  if (status.ok()) return 0;
  (*ranks)->fail(status);
  return (*ranks)->rank() == 0 ? say(status, 1) : 1;
}

}  // namespace
}  // namespace nmb::test

int main(int argc, char** argv) { return nmb::test::run_program({argv + 1, argv + argc}); }
