// Implements the network between threads (see parallel/communicator.h).
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "parallel/collective_call.h"
#include "parallel/communicator.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// One lock protects all mailboxes. This is enough, because ranks send few messages and a mailbox
// takes a message without copying it.
class ThreadNetwork {
 public:
  explicit ThreadNetwork(int size) : boxes_(static_cast<std::size_t>(size)), left_(size) {}

  int size() const { return static_cast<int>(boxes_.size()); }

  void send(int from, int to, std::vector<std::byte> bytes) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    bool wake = false;
    {
      std::lock_guard lock(mutex_);
      box.arrivals.push_back({from, std::move(bytes)});
      wake = std::exchange(box.waiting, false);
      if (wake) --waiting_;
    }
    // Notify after unlocking, because the receiver needs the lock first.
    if (wake) box.ready.notify_one();
  }

  Result<Transport::Arrival> next(int rank, std::uint64_t operation) {
    std::unique_lock lock(mutex_);
    Box& box = boxes_[static_cast<std::size_t>(rank)];
    const auto failed = [&] { return !failure_.ok() && operation >= failed_from_; };
    if (box.arrivals.empty() && !failed()) {
      box.waiting = true;
      ++waiting_;
      find_deadlock();
      box.ready.wait(lock, [&] { return !box.waiting || failed(); });
      if (std::exchange(box.waiting, false)) --waiting_;
    }
    if (failed()) return failure_;
    Transport::Arrival arrival = std::move(box.arrivals.front());
    box.arrivals.pop_front();
    return arrival;
  }

  void fail(const Status& why, std::uint64_t from) {
    std::lock_guard lock(mutex_);
    fail_locked(why, from);
  }

  void leave() {
    std::lock_guard lock(mutex_);
    --left_;
    find_deadlock();
  }

 private:
  struct Box {
    std::deque<Transport::Arrival> arrivals;
    std::condition_variable ready;
    bool waiting = false;
  };

  void fail_locked(const Status& why, std::uint64_t from) {
    if (failure_.ok()) failure_ = why;
    failed_from_ = std::min(failed_from_, from);
    for (Box& box : boxes_) box.ready.notify_one();
  }
  // Fails if all remaining ranks wait for messages, because no rank is left that could send a
  // message.
  void find_deadlock() {
    if (waiting_ == left_ && left_ > 0)
      fail_locked(
          Status(Code::kUsage,
                 joined_text("found ", left_, " of ", boxes_.size(),
                             " ranks waiting for messages that no rank sends, expected the same "
                             "collective calls on all ranks")),
          0);
  }

  std::mutex mutex_;
  std::vector<Box> boxes_;
  int waiting_ = 0;
  int left_;  // number of ranks that have not called leave()
  Status failure_;
  std::uint64_t failed_from_ = ~std::uint64_t{0};  // number of the first operation that fails
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadNetwork> network, int rank)
      : network_(std::move(network)), rank_(rank) {}
  ~ThreadTransport() override { network_->leave(); }
  int rank() const override { return rank_; }
  int size() const override { return network_->size(); }
  int node_leader() const override { return 0; }
  bool shares_memory() const override { return true; }
  Status send(int to, std::vector<std::byte> bytes) override {
    NMB_TRY(failure_);
    network_->send(rank_, to, std::move(bytes));
    return {};
  }
  Result<Arrival> next(std::uint64_t operation) override {
    Result<Arrival> arrival = network_->next(rank_, operation);
    if (!arrival.ok()) failure_ = arrival.status();
    return arrival;
  }
  void fail(const Status& why, std::uint64_t from) override {
    if (failure_.ok()) failure_ = why;
    network_->fail(why, from);
  }
  // Returns 0: a waiting thread sleeps and uses no CPU time.
  double waiting_seconds() const override { return 0; }

 private:
  std::shared_ptr<ThreadNetwork> network_;
  int rank_;
  Status failure_;  // set when this rank sends no more messages
};

struct RankThread {
  std::unique_ptr<Transport> transport;
  const std::function<Status(Communicator&)>* body = nullptr;
  pthread_t thread{};
  Status status;

  void run() {
    Communicator communicator(std::move(transport));
    status = collective_call(communicator, out_of_memory_on(communicator),
                             [&] { return (*body)(communicator); });
    if (!status.ok()) communicator.fail(status);
  }
};

void* run_rank(void* rank) {
  static_cast<RankThread*>(rank)->run();
  return nullptr;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_thread_network(int size) {
  auto network = std::make_shared<ThreadNetwork>(size);
  std::vector<std::unique_ptr<Transport>> ends;
  for (int rank = 0; rank < size; ++rank)
    ends.push_back(std::make_unique<ThreadTransport>(network, rank));
  return ends;
}

Status run_thread_ranks(int size, const std::function<Status(Communicator&)>& body,
                        std::size_t stack) {
  std::vector<std::unique_ptr<Transport>> ends = make_thread_network(size);
  std::vector<RankThread> ranks(ends.size());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack != 0) pthread_attr_setstacksize(&attributes, stack);
  std::size_t started = 0;
  Status failure;
  for (; started < ranks.size(); ++started) {
    RankThread& rank = ranks[started];
    rank.transport = std::move(ends[started]);
    rank.body = &body;
    if (const int error = pthread_create(&rank.thread, &attributes, run_rank, &rank); error != 0) {
      failure = Status(Code::kLimit, joined_text("cannot make thread ", started, " of ", size, ": ",
                                                 std::strerror(error)));
      rank.transport->fail(failure, 0);
      break;
    }
  }
  pthread_attr_destroy(&attributes);
  for (std::size_t i = 0; i < started; ++i) pthread_join(ranks[i].thread, nullptr);
  for (std::size_t i = 0; i < started && failure.ok(); ++i) failure = ranks[i].status;
  return failure;
}

}  // namespace nmb
