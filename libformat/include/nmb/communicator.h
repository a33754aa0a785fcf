// Communicator: the ranks that write or read a file together, as threads of a process or processes
// of an MPI job, and the collective operations that they do it by. The operations are written once,
// on messages from rank to rank, so that one process, threads and MPI run the same algorithm
// ("Parallel Data Object Creation", section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nmb/files.h"
#include "nmb/status.h"

namespace nmb {

// Creates, reads and writes the writer's file by MPI-IO, so that the drivers and hints of an MPI
// library apply to it.
class MpiIo {
 public:
  // Keys and values of an MPI_Info.
  using Hints = std::vector<std::pair<std::string, std::string>>;

  virtual ~MpiIo() = default;
  // Makes an empty file, so that hints about placement apply. Errors: kExists; kUsage: hints or a
  // path that MPI does not accept.
  virtual Status create(const std::string& path, const Hints& hints) const = 0;
  // Opens `file`, which is at `path`, for access by MPI-IO from this rank only; `file` still
  // provides name, lock and publishing. threads: whether several threads will use it. Errors: see
  // create().
  virtual Result<std::unique_ptr<OutputFile>> open(std::unique_ptr<OutputFile> file,
                                                   const std::string& path, const Hints& hints,
                                                   bool threads) const = 0;
};

// Memory of long messages, kept for the next ones: the system gives new memory a page at a time,
// each filled with zeros, which takes as long as to fill it once more. Used by one thread at a
// time.
class MessageMemory {
 public:
  static constexpr std::size_t kMost = 12 << 20;  // bytes that are kept

  MessageMemory() { kept_.reserve(kMostVectors); }
  // With room for `length` bytes; what it holds is of no use.
  NMB_EXPORT std::vector<std::byte> take(std::size_t length);
  NMB_EXPORT void give_back(std::vector<std::byte> bytes) noexcept;
  std::size_t kept() const { return kept_bytes_; }

 private:
  // Shorter ones the C library keeps by itself.
  static constexpr std::size_t kLong = 64 << 10, kMostVectors = 64;
  std::vector<std::vector<std::byte>> kept_;
  std::size_t kept_bytes_ = 0;
};

// One rank's end of a network that carries messages from rank to rank. What a communicator is built
// on; threads and MPI are transports, and tests make their own. Used by one thread at a time.
// Messages between two ranks arrive in the order they were sent.
class Transport {
 public:
  struct Arrival {
    int from = 0;
    std::vector<std::byte> bytes;
  };

  // Without waiting for what was sent, if the network has failed.
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Bytes of the longest message that send() takes.
  virtual std::size_t max_message() const { return std::size_t{1} << 30; }
  // The lowest rank on this machine.
  virtual int node_leader() const = 0;
  // Whether pointers of one rank are of use to another.
  virtual bool shares_memory() const = 0;
  // Takes the bytes, not empty; does not wait for the receiver.
  virtual Status send(int to, std::vector<std::byte> bytes) = 0;
  // Waits for the next message from any rank. Fails when the network has failed.
  virtual Result<Arrival> next() = 0;
  // The network has failed: every rank's next() says so from now on. The first reason stays.
  virtual void fail(const Status& why) = 0;
  // CPU seconds spent in next() with no message there.
  virtual double waiting_seconds() const = 0;
  // Keeps `what` at least until other ranks know that the network has failed, or have ended.
  void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }
  // How files are made and opened by MPI-IO; null where the ranks are not of MPI.
  virtual const MpiIo* mpi_io() const { return nullptr; }

  const std::shared_ptr<MessageMemory>& memory() const { return memory_; }

 protected:
  std::vector<std::shared_ptr<const void>> kept_;

 private:
  std::shared_ptr<MessageMemory> memory_ = std::make_shared<MessageMemory>();
};

// What a rank has sent, and the most bytes of messages that it held at a time.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;
};

// A message that arrived. Those with the same bytes may own them together.
class Message {
 public:
  Message() = default;
  // memory: gets the bytes when no message has them any more.
  NMB_EXPORT Message(int from, std::vector<std::byte> bytes, std::shared_ptr<MessageMemory> memory);
  // bytes: of the owner's.
  Message(int from, std::shared_ptr<const std::vector<std::byte>> owner,
          std::span<const std::byte> bytes)
      : from_(from), owner_(std::move(owner)), bytes_(bytes) {}
  int from() const { return from_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  int from_ = 0;
  std::shared_ptr<const std::vector<std::byte>> owner_;
  std::span<const std::byte> bytes_;
};

// Every rank of a file calls the same collective operations in the same order; each operation
// returns when this rank's part is done. A failure of the network (another rank's thread ended, no
// memory for a message) is the same for all ranks and stays. Used by one thread at a time. Memory
// exhaustion throws std::bad_alloc; the other ranks then wait until fail() is called.
class Communicator {
 public:
  // One rank alone.
  Communicator() = default;
  NMB_EXPORT explicit Communicator(std::unique_ptr<Transport> transport);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Whether this is the lowest rank on its machine.
  bool leads_node() const { return node_leader() == rank_; }
  // That rank.
  int node_leader() const { return transport_ ? transport_->node_leader() : 0; }
  bool shares_memory() const { return !transport_ || transport_->shares_memory(); }
  const Traffic& traffic() const { return traffic_; }
  // Traffic::peak_bytes counts from now on.
  void restart_peak() { traffic_.peak_bytes = held_; }
  // For the writer (see Transport).
  const MpiIo* mpi_io() const { return transport_ ? transport_->mpi_io() : nullptr; }
  double waiting_seconds() const { return transport_ ? transport_->waiting_seconds() : 0; }

  // Whether agree() says which rank's a failure is (it does unless told otherwise; the same on
  // all): who uses threads may not care that they are ranks.
  void set_names_ranks(bool on) { names_ranks_ = on; }

  // Every rank gets the failure of the lowest rank that has one, its message ending with the rank.
  // `operation`: what the caller does, of at most 31 bytes, and `file`: with which of those that
  // number_file() has numbered; not the same on all ranks: kUsage on all.
  NMB_EXPORT Status agree(const Status& status, std::string_view operation = {},
                          std::uint64_t file = 0);
  // work() of rank 0 alone, its Status on every rank, without the rank: a target that exists.
  template <class Work>
  Status first(Work work) {
    return of_first(rank_ == 0 ? Status(work()) : Status());
  }
  // Of a file that ranks open together, from 1: the same on all, as they open the same.
  std::uint64_t number_file() { return ++files_; }
  // How often agree() or first() has ended with a failure, as on all ranks.
  std::uint64_t agreed_failures() const { return agreed_failures_; }
  // How often agree() has found that ranks do not do the same.
  std::uint64_t differing_calls() const { return differing_calls_; }
  // All ranks have called it.
  NMB_EXPORT Status barrier();
  // *bytes of `root` on all ranks.
  NMB_EXPORT Status broadcast(int root, std::vector<std::byte>* bytes);

  // Messages to any ranks, also this one; returns what arrives, in order of the senders' ranks and,
  // from one rank, in the order it gave. Each rank sends ceil(log2(size)) messages, in which short
  // parcels travel from rank to rank, and its long ones straight (parallel/exchange.cpp).
  struct Parcel {
    int to = 0;
    std::vector<std::byte> bytes;
  };
  NMB_EXPORT Result<std::vector<Message>> exchange(std::vector<Parcel> parcels);

  // combine(value of ranks a..b, value of ranks b+1..c) -> of a..c; associative.
  template <class T, class Combine>
  Result<T> all_reduce(T value, Combine combine);
  // The combined values of the ranks before this one; rank 0: `first`.
  template <class T, class Combine>
  Result<T> scan_before(T value, T first, Combine combine);
  template <class T>
  Result<T> broadcast_value(int root, T value);

  // The network has failed by this rank: every rank's next operation says so.
  NMB_EXPORT void fail(const Status& why);

  // Lets go of `what` when other ranks know of the failure (see Transport).
  void keep(std::shared_ptr<const void> what) {
    if (transport_) transport_->keep(std::move(what));
  }

  // Bytes of a parcel, empty, with room for `length` and what send() puts behind them.
  NMB_EXPORT std::vector<std::byte> parcel_bytes(std::size_t length);

 private:
  // Messages of one operation. Operations are numbered alike on all ranks; the low bits of a tag
  // say what it does.
  using Tag = std::uint64_t;
  enum class Operation : Tag {
    kReduce,
    kScan,
    kBroadcast,
    kBroadcastValue,
    kBarrier,
    kExchange,
    kFirst,
  };
  static constexpr int kOperationBits = 3;

  Tag next_tag(Operation what) {
    return (++operations_ << kOperationBits) | static_cast<Tag>(what);
  }
  Status send(int to, Tag tag, std::vector<std::byte> bytes);
  NMB_EXPORT Status send_copy(int to, Tag tag, std::span<const std::byte> bytes);
  NMB_EXPORT Result<Message> receive(int from, Tag tag);
  Status receive_all(Tag tag, std::size_t count, std::vector<Message>* out);
  NMB_EXPORT Status of_first(const Status& status);
  Status broadcast(Operation what, int root, std::vector<std::byte>* bytes);
  Status take_arrival();
  // Ranks that make another call send messages that this one does not wait for.
  Status check_same(Tag tag);
  // They would wait for this rank for ever: the network fails.
  NMB_EXPORT Status other_call(int from);
  struct OnTheWay;
  Status pass_on(Tag tag, OnTheWay own, std::vector<Message>* arrived, std::uint32_t* straight);
  void hold(std::uint64_t bytes);
  // Values are std::string or trivially copyable.
  template <class T>
  Status send_value(int to, Tag tag, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      return send_copy(to, tag, std::as_bytes(std::span(value)));
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      return send_copy(to, tag, std::as_bytes(std::span(&value, 1)));
    }
  }
  template <class T>
  Result<T> receive_value(int from, Tag tag) {
    NMB_ASSIGN(const Message message, receive(from, tag));
    if constexpr (std::is_same_v<T, std::string>) {
      return std::string(reinterpret_cast<const char*>(message.bytes().data()),
                         message.bytes().size());
    } else {
      T value;
      if (message.bytes().size() != sizeof value) return other_call(from);
      std::memcpy(&value, message.bytes().data(), sizeof value);
      return value;
    }
  }

  // A message longer than Transport::max_message() arrives in parts.
  struct Partial {
    Tag tag;
    std::vector<std::byte> bytes;
    std::size_t filled;
  };

  std::unique_ptr<Transport> transport_;
  int rank_ = 0;
  int size_ = 1;
  bool names_ranks_ = true;
  std::uint64_t operations_ = 0;
  std::uint64_t files_ = 0;
  std::uint64_t agreed_failures_ = 0, differing_calls_ = 0;
  std::map<Tag, std::vector<Message>> waiting_;  // arrived, not asked for yet
  std::map<int, Partial> partial_;
  Traffic traffic_;
  std::uint64_t held_ = 0;
  std::uint64_t delivered_ = 0;  // bytes that exchange() is about to return
};

template <class T, class Combine>
Result<T> Communicator::all_reduce(T value, Combine combine) {
  if (size_ == 1) return value;
  const Tag tag = next_tag(Operation::kReduce);
  // A binomial tree towards rank 0: ranks [rank, rank + step) are combined.
  for (int step = 1; step < size_; step *= 2) {
    if (rank_ & step) {
      NMB_TRY(send_value(rank_ - step, tag, value));
      break;
    }
    if (rank_ + step < size_) {
      NMB_ASSIGN(const T above, receive_value<T>(rank_ + step, tag));
      value = combine(value, above);
    }
  }
  return broadcast_value(0, value);
}

template <class T, class Combine>
Result<T> Communicator::scan_before(T value, T first, Combine combine) {
  const Tag tag = next_tag(Operation::kScan);
  T before = first;
  bool any = false;
  // `value` covers ranks (rank - step, rank], `before` those of them below this one.
  for (int step = 1; step < size_; step *= 2) {
    if (rank_ + step < size_) NMB_TRY(send_value(rank_ + step, tag, value));
    if (rank_ >= step) {
      NMB_ASSIGN(const T below, receive_value<T>(rank_ - step, tag));
      value = combine(below, value);
      before = any ? combine(below, before) : below;
      any = true;
    }
  }
  return before;
}

template <class T>
Result<T> Communicator::broadcast_value(int root, T value) {
  if (size_ == 1) return value;
  const Tag tag = next_tag(Operation::kBroadcastValue);
  // A binomial tree: ranks are counted from the root.
  const int me = (rank_ - root + size_) % size_;
  int step = 1;
  for (; step < size_; step *= 2) {
    if (me & step) {
      NMB_ASSIGN(value, receive_value<T>((me - step + root) % size_, tag));
      break;
    }
  }
  for (step /= 2; step > 0; step /= 2)
    if (me + step < size_) NMB_TRY(send_value((me + step + root) % size_, tag, value));
  return value;
}

// --- ranks that are threads of one process ---

// The ends of a network between `size` threads. Each may be handed to another thread. A rank whose
// end is destroyed sends nothing any more: when all that are left wait for one another, every one's
// next() fails with kUsage.
NMB_EXPORT std::vector<std::unique_ptr<Transport>> make_thread_network(int size);

// Runs `body` on `size` threads at once, each with its communicator, and waits for all. A rank that
// fails fails the network, so that nobody waits for it; returns that failure. An exception of
// `body` counts as a failure. stack: bytes for each thread, 0: the system's default. kLimit: no
// thread could be made.
NMB_EXPORT Status run_thread_ranks(int size, const std::function<Status(Communicator&)>& body,
                                   std::size_t stack = 0);

// --- ranks that are processes of an MPI job ---
// libnmb is not linked with any MPI: the plug-in for the library that launched the program is
// loaded when it is asked for.

enum class MpiLibrary { kOpenMpi, kMpich };

// Whose launcher (mpiexec, srun) started this process, by the environment; none: it was started
// alone. Where Slurm started several processes without telling any MPI about it: kMpich, and
// open_mpi_ranks() refuses.
NMB_EXPORT std::optional<MpiLibrary> launched_by();

// How many processes the launcher started, by the environment; 0: not told.
NMB_EXPORT int launched_ranks();

// This process's end of a network of its own between the ranks of *comm, which points to an
// MPI_Comm of that library and is duplicated; null: MPI_COMM_WORLD. Called by all of them, on the
// thread that initialised MPI, where the communicator is then used; all of them destroy it, which
// waits for the others a while. MPI is initialised if nobody did, and then finalised when the
// program ends. A program whose rank gives up calls fail() before it ends, or the others wait for
// it.
//
// The plug-in nmb-mpi-openmpi.so or nmb-mpi-mpich.so is looked for in the folders that
// NMB_PLUGIN_PATH names (separated by ':') or, if that is not set, in nmb/ beside the shared
// libnmb, in the library folder of the executable's installation, and where the dynamic linker
// looks for libraries (DT_RUNPATH, which the CMake package and nmb.pc set). kUnsupported: there is
// none, it cannot be loaded, it is of another build, or its MPI was not what launched this process.
// kUsage: another MPI is in this process, MPI was finalised, or *comm is no intracommunicator.
NMB_EXPORT Result<std::unique_ptr<Communicator>> open_mpi_ranks(MpiLibrary library,
                                                                const void* comm = nullptr);

}  // namespace nmb
