// The network between the processes of an MPI job. This plug-in is built once for each MPI library.
// It only sends messages from one rank to another, so a Communicator counts exactly the messages
// that MPI sends.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

#include "mpi_call.h"
#include "mpi_file.h"
#include "parallel/message_fields.h"
#include "parallel/mpi_plugin.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr int kMessageTag = 0;
// Tag of the message that gives the reason why the network has failed. After a message with this
// tag, a rank sends no other messages.
constexpr int kFailureTag = 1;

// Finished sends are collected when the number of sends, or of their bytes, reaches a limit. Each
// limit is twice the number that remained after the last collection, but at least the constant
// below.
constexpr std::size_t kSweepSends = 16;
constexpr std::size_t kSweepBytes = 1 << 20;

// How long a rank waits for the other ranks when it ends its network. After a failure, it waits
// this long for each further message.
constexpr std::chrono::seconds kEndWait{2};

using Clock = std::chrono::steady_clock;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Pause of a waiting rank between two checks. At first there is no pause; then the rank yields the
// processor; then it sleeps, because there may be fewer processors than ranks. A rank that sleeps
// answers late, so that its peer sleeps too: it must not begin before an answer can be expected.
class Pause {
 public:
  void operator()() {
    constexpr int kSpins = 100;
    constexpr auto kYields = std::chrono::milliseconds(1);
    constexpr long kLongest = 200'000;
    if (looks_ < kSpins) {
      if (++looks_ == kSpins) began_ = Clock::now();
      return;
    }
    if (nanoseconds_ == kShortest && Clock::now() - began_ < kYields) {
      sched_yield();
      return;
    }
    const timespec time{0, nanoseconds_};
    nanosleep(&time, nullptr);
    nanoseconds_ = std::min(2 * nanoseconds_, kLongest);
  }

 private:
  static constexpr long kShortest = 5'000;
  int looks_ = 0;
  long nanoseconds_ = kShortest;
  Clock::time_point began_{};
};

struct Comm {
  MPI_Comm comm = MPI_COMM_NULL;
  ~Comm() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

struct Group {
  MPI_Group group = MPI_GROUP_NULL;
  ~Group() {
    if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
  }
};

// A message that MPI_Improbe has matched. MPI delivers this message only to a receive call that
// names the match.
struct Match {
  MPI_Message message = MPI_MESSAGE_NULL;
  int from = 0;
  int tag = 0;
  std::size_t length = 0;
};

// Bytes that MPI reads or writes until the request is done.
struct Transfer {
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<std::byte> bytes;
};

class MpiTransport final : public Transport {
 public:
  ~MpiTransport() override;
  Status open(MPI_Comm comm);
  void end_with_program();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_leader() const override { return node_leader_; }
  bool shares_memory() const override { return false; }
  double waiting_seconds() const override { return waiting_seconds_; }
  const MpiIo* mpi_io() const override { return &mpi_files(); }
  Status send(int to, std::vector<std::byte> bytes) override;
  Result<Arrival> next(std::uint64_t operation) override;
  void fail(const Status& why, std::uint64_t from) override;

 private:
  Status find_node_leader();
  // Returns the status of an MPI call. If the call failed, all operations fail.
  Status check_or_fail(const char* call, int code);
  Status post(int to, int tag, std::vector<std::byte> bytes);
  Status sweep();
  // Matches the next message with the tag `tag`, or with any tag if `tag` is MPI_ANY_TAG. Returns
  // false if no such message has arrived.
  Result<bool> look(int tag, Match* match);
  Result<Match> wait_for_message();
  // Fails with kLimit after the time `end`.
  Result<std::vector<std::byte>> receive(Match* match,
                                         Clock::time_point end = Clock::time_point::max());
  // Receives the message in which another rank reports a failure.
  Status learn_failure(Match* match);
  // Learns of the failure of another rank, if one has reported it. Returns the network's failure.
  Status look_for_failure();
  // Returns the network's failure if it ends the operation in which this rank is.
  Status met_failure();
  // Sends the network's failure to the other ranks. After this message, a rank sends no others.
  void announce();
  bool end_together();
  void end_failed();
  // Discards the messages that have arrived. If at least one message had arrived, sets *end to a
  // later time.
  Status discard_arrivals(Clock::time_point* end);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int node_leader_ = 0;
  Status failure_;
  std::uint64_t failed_from_ = ~std::uint64_t{0};  // number of the first operation that fails
  std::uint64_t operation_ = 0;                    // number of the operation of next()
  bool announced_ = false;
  int last_messages_ = 0;  // number of ranks that will send no more messages
  double waiting_seconds_ = 0;
  // The sends that were unfinished at the last check. The request requests_[i] sends the bytes in
  // buffers_[i].
  std::vector<MPI_Request> requests_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<int> done_;  // room for MPI_Testsome
  std::size_t sent_bytes_ = 0;
  std::size_t sweep_sends_ = kSweepSends;
  std::size_t sweep_bytes_ = kSweepBytes;
};

// Requests that MPI may still use although their network has failed. These requests are kept until
// the process ends. Only the thread that initialised MPI may use this list.
std::vector<Transfer>& abandoned() {
  static auto* const transfers = new std::vector<Transfer>;
  return *transfers;
}

// Objects of failed networks. These objects are kept because another rank may not have noticed the
// failure and may still use them.
std::vector<std::shared_ptr<const void>>& kept_for_others() {
  static auto* const kept = new std::vector<std::shared_ptr<const void>>;
  return *kept;
}

// Networks that have not ended. Only the thread that initialised MPI may use this list.
std::vector<MpiTransport*>& open_networks() {
  static auto* const networks = new std::vector<MpiTransport*>;
  return *networks;
}

Status MpiTransport::open(MPI_Comm comm) {
  int inter = 0;
  if (comm != MPI_COMM_NULL)
    NMB_TRY(check("MPI_Comm_test_inter", MPI_Comm_test_inter(comm, &inter)));
  if (comm == MPI_COMM_NULL || inter != 0)
    return Status(Code::kUsage,
                  joined_text("found ", inter != 0 ? "an intercommunicator" : "MPI_COMM_NULL",
                              ", expected an intracommunicator"));
  // Do not copy the program's hints: a hint may promise that no rank probes for messages.
  NMB_TRY(check("MPI_Comm_dup_with_info", MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &comm_)));
  NMB_TRY(check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN)));
  NMB_TRY(check("MPI_Comm_rank", MPI_Comm_rank(comm_, &rank_)));
  NMB_TRY(check("MPI_Comm_size", MPI_Comm_size(comm_, &size_)));
  open_networks().push_back(this);
  return find_node_leader();
}

// Called if the program ends before this network was destroyed.
void MpiTransport::end_with_program() {
  if (failure_.ok() && end_together()) return;
  fail(Status(Code::kUsage,
              joined_text("the program of rank ", rank_, " ended before its Ranks were destroyed")),
       0);
  end_failed();
}

Status MpiTransport::find_node_leader() {
  // The node leader is computed only once for the ranks of MPI_COMM_WORLD. With some MPI libraries,
  // the computation takes long if there are more ranks than processors.
  static std::optional<int> of_world;
  int likeness = MPI_UNEQUAL;
  NMB_TRY(check("MPI_Comm_compare", MPI_Comm_compare(comm_, MPI_COMM_WORLD, &likeness)));
  if (likeness == MPI_CONGRUENT && of_world) {
    node_leader_ = *of_world;
    return {};
  }
  Comm node;
  NMB_TRY(check("MPI_Comm_split_type", MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_,
                                                           MPI_INFO_NULL, &node.comm)));
  Group on_node, all;
  NMB_TRY(check("MPI_Comm_group", MPI_Comm_group(node.comm, &on_node.group)));
  NMB_TRY(check("MPI_Comm_group", MPI_Comm_group(comm_, &all.group)));
  const int first = 0;
  NMB_TRY(check("MPI_Group_translate_ranks",
                MPI_Group_translate_ranks(on_node.group, 1, &first, all.group, &node_leader_)));
  if (likeness == MPI_CONGRUENT) of_world = node_leader_;
  return {};
}

Status MpiTransport::check_or_fail(const char* call, int code) {
  Status status = check(call, code);
  if (!status.ok()) fail(status, 0);
  return status;
}

Status MpiTransport::post(int to, int tag, std::vector<std::byte> bytes) {
  // Reserve memory before the send begins. If memory were exhausted after the send began, the bytes
  // would be freed while MPI may still send them.
  if (requests_.size() == requests_.capacity())
    requests_.reserve(2 * requests_.size() + kSweepSends);
  if (buffers_.size() == buffers_.capacity()) buffers_.reserve(2 * buffers_.size() + kSweepSends);
  MPI_Request request = MPI_REQUEST_NULL;
  NMB_TRY(check("MPI_Isend", MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to,
                                       tag, comm_, &request)));
  sent_bytes_ += bytes.size();
  requests_.push_back(request);
  buffers_.push_back(std::move(bytes));
  return {};
}

Status MpiTransport::send(int to, std::vector<std::byte> bytes) {
  if (announced_) return failure_;
  if (Status status = post(to, kMessageTag, std::move(bytes)); !status.ok()) {
    fail(status, 0);
    return status;
  }
  return requests_.size() < sweep_sends_ && sent_bytes_ < sweep_bytes_ ? Status() : sweep();
}

// Frees the bytes of finished sends.
Status MpiTransport::sweep() {
  if (requests_.empty()) return {};
  done_.resize(requests_.size());
  int count = 0;
  NMB_TRY(check_or_fail("MPI_Testsome",
                        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                     done_.data(), MPI_STATUSES_IGNORE)));
  std::size_t kept = 0;
  sent_bytes_ = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) {
      memory()->give_back(std::move(buffers_[i]));
      continue;
    }
    std::swap(requests_[kept], requests_[i]);
    std::swap(buffers_[kept], buffers_[i]);
    sent_bytes_ += buffers_[kept++].size();
  }
  requests_.resize(kept);
  buffers_.resize(kept);
  sweep_sends_ = std::max(kSweepSends, 2 * kept);
  sweep_bytes_ = std::max(kSweepBytes, 2 * sent_bytes_);
  return {};
}

Result<bool> MpiTransport::look(int tag, Match* match) {
  int found = 0;
  MPI_Status status;
  NMB_TRY(check_or_fail("MPI_Improbe",
                        MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &found, &match->message, &status)));
  if (found == 0) return false;
  int length = 0;
  NMB_TRY(check_or_fail("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &length)));
  match->from = status.MPI_SOURCE;
  match->tag = status.MPI_TAG;
  match->length = static_cast<std::size_t>(length);
  return true;
}

Result<Match> MpiTransport::wait_for_message() {
  Match match;
  NMB_ASSIGN(bool found, look(MPI_ANY_TAG, &match));
  if (found) return match;
  const double start = thread_seconds();
  NMB_TRY(sweep());
  for (Pause pause; !found; pause()) {
    NMB_ASSIGN(found, look(MPI_ANY_TAG, &match));
  }
  waiting_seconds_ += thread_seconds() - start;
  return match;
}

Result<std::vector<std::byte>> MpiTransport::receive(Match* match, Clock::time_point end) {
  Transfer transfer;
  transfer.bytes = memory()->take(match->length);
  transfer.bytes.resize(match->length);
  NMB_TRY(check_or_fail("MPI_Imrecv",
                        MPI_Imrecv(transfer.bytes.data(), static_cast<int>(transfer.bytes.size()),
                                   MPI_BYTE, &match->message, &transfer.request)));
  for (Pause pause;; pause()) {
    int done = 0;
    Status status =
        check_or_fail("MPI_Test", MPI_Test(&transfer.request, &done, MPI_STATUS_IGNORE));
    if (status.ok() && done != 0) return std::move(transfer.bytes);
    // A rank that fails while it sends a long message may not send all of it.
    if (status.ok() && end == Clock::time_point::max() && match->tag != kFailureTag) {
      static_cast<void>(look_for_failure().ok());
      status = met_failure();
    }
    if (status.ok() && Clock::now() > end)
      status = Status(Code::kLimit, "only a part of a message arrived in time");
    if (!status.ok()) {
      abandoned().push_back(std::move(transfer));
      return status;
    }
  }
}

Result<Transport::Arrival> MpiTransport::next(std::uint64_t operation) {
  operation_ = operation;
  for (;;) {
    NMB_TRY(met_failure());
    NMB_ASSIGN(Match match, wait_for_message());
    if (match.tag == kFailureTag) {
      NMB_TRY(learn_failure(&match));
      continue;
    }
    NMB_ASSIGN(std::vector<std::byte> bytes, receive(&match));
    return Arrival{match.from, std::move(bytes)};
  }
}

Status MpiTransport::learn_failure(Match* match) {
  NMB_ASSIGN(const std::vector<std::byte> bytes, receive(match));
  ++last_messages_;
  std::pair<Status, std::uint64_t> reported;
  if (Status taken = take_fields(bytes, &reported); !taken.ok()) {
    fail(taken, 0);
    return taken;
  }
  if (failure_.ok()) failure_ = reported.first;
  failed_from_ = std::min(failed_from_, reported.second);
  return {};
}

Status MpiTransport::look_for_failure() {
  Match match;
  NMB_ASSIGN(const bool found, look(kFailureTag, &match));
  if (found) NMB_TRY(learn_failure(&match));
  return failure_;
}

Status MpiTransport::met_failure() {
  if (failure_.ok() || operation_ < failed_from_) return {};
  announce();
  return failure_;
}

void MpiTransport::fail(const Status& why, std::uint64_t from) {
  if (failure_.ok()) failure_ = why;
  failed_from_ = std::min(failed_from_, from);
  announce();
}

void MpiTransport::announce() {
  if (std::exchange(announced_, true)) return;
  // A rank to which the message cannot be sent does not learn the reason; there is no other way to
  // inform it.
  const std::vector<std::byte> report = bytes_of_fields(std::pair(failure_, failed_from_));
  for (int to = 0; to < size_; ++to)
    if (to != rank_) static_cast<void>(post(to, kFailureTag, report).ok());
}

// Waits until this rank's sends are done. After that, waits for at most kEndWait until all ranks
// have called this function. Returns false if a rank did not call this function in time, or if the
// network has failed.
bool MpiTransport::end_together() {
  for (Pause pause; !requests_.empty(); pause())
    if (!sweep().ok() || !look_for_failure().ok()) return false;
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (!check_or_fail("MPI_Ibarrier", MPI_Ibarrier(comm_, &barrier)).ok()) return false;
  const Clock::time_point end = Clock::now() + kEndWait;
  for (Pause pause; Clock::now() < end; pause()) {
    int done = 0;
    if (!check_or_fail("MPI_Test", MPI_Test(&barrier, &done, MPI_STATUS_IGNORE)).ok()) break;
    if (done != 0) return true;
    if (!look_for_failure().ok()) break;
  }
  abandoned().push_back({barrier, {}});
  return false;
}

// Waits until this rank's sends are done and all messages to this rank have arrived. Discards these
// messages, so that MPI can end properly. The waiting time is limited, because another rank may
// have ended and sent no message.
void MpiTransport::end_failed() {
  announce();
  Clock::time_point end = Clock::now() + kEndWait;
  for (Pause pause; Clock::now() < end; pause()) {
    static_cast<void>(sweep().ok());
    if (!discard_arrivals(&end).ok()) return;
    if (requests_.empty() && last_messages_ == size_ - 1) return;
  }
}

Status MpiTransport::discard_arrivals(Clock::time_point* end) {
  for (;;) {
    Match match;
    NMB_ASSIGN(const bool found, look(MPI_ANY_TAG, &match));
    if (!found) return {};
    NMB_TRY(receive(&match, *end).status());
    if (match.tag == kFailureTag) ++last_messages_;
    *end = Clock::now() + kEndWait;
  }
}

MpiTransport::~MpiTransport() {
  std::erase(open_networks(), this);
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (comm_ == MPI_COMM_NULL || finalised != 0) return;
  const bool all_ended = failure_.ok() && end_together();
  if (!failure_.ok())
    end_failed();
  else if (!all_ended)
    // The others may wait for this rank in a collective call.
    fail(Status(Code::kUsage,
                joined_text("rank ", rank_, " destroyed its Ranks before the other ranks did")),
         end_);
  // Ranks that have not confirmed the failure may still use these objects, so they are kept until
  // the process ends.
  if (!all_ended && last_messages_ < size_ - 1)
    std::ranges::move(kept_, std::back_inserter(kept_for_others()));
  for (std::size_t i = 0; i < requests_.size(); ++i)
    abandoned().push_back({requests_[i], std::move(buffers_[i])});
  // Free the MPI communicator only if all ranks have ended the network. With Open MPI, a late
  // message could otherwise reach another communicator.
  if (all_ended) MPI_Comm_free(&comm_);
}

// Called at the end of the program.
void finalise() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) return;
  for (MpiTransport* const network : open_networks()) network->end_with_program();
  MPI_Finalize();
}

Status initialise() {
  int initialised = 0, finalised = 0;
  NMB_TRY(check("MPI_Initialized", MPI_Initialized(&initialised)));
  NMB_TRY(check("MPI_Finalized", MPI_Finalized(&finalised)));
  if (finalised != 0)
    return Status(Code::kUsage, "MPI was finalised; no communicator can be opened after that");
  if (initialised != 0) return {};
  int provided = 0;
  // Only one thread sends messages, but several threads may write to a file in turn.
  NMB_TRY(check("MPI_Init_thread",
                MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)));
  if (std::atexit(finalise) != 0)
    return Status(Code::kLimit,
                  "cannot register the function that finalises MPI at the end of the program");
  if (provided < MPI_THREAD_FUNNELED)
    return Status(Code::kUnsupported,
                  "this MPI supports only programs with one thread; MPI_THREAD_FUNNELED is needed");
  return {};
}

Result<std::unique_ptr<Transport>> open_transport(const void* comm) {
  NMB_TRY(initialise());
  auto transport = std::make_unique<MpiTransport>();
  NMB_TRY(transport->open(comm == nullptr ? MPI_COMM_WORLD : *static_cast<const MPI_Comm*>(comm)));
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace

}  // namespace nmb

extern "C" NMB_EXPORT const nmb::MpiPlugin nmb_mpi_plugin;
const nmb::MpiPlugin nmb_mpi_plugin{NMB_TRANSPORT_BUILD, nmb::open_transport};
