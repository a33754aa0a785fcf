// Communicator: the ranks that write or read a file together (threads of one process, or processes
// of an MPI job) and their collective operations. The operations are implemented once, by messages
// between ranks. One process, threads and MPI therefore run the same algorithm ("Parallel Data
// Object Creation", section 3).
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

#include "files/files.h"
#include "nmb/ranks.h"
#include "wire/failure.h"

namespace nmb {

// Creates, reads and writes the writer's file by MPI-IO. The drivers and hints of the MPI library
// then apply to the file.
class MpiIo {
 public:
  // Keys and values of an MPI_Info.
  using Hints = std::vector<std::pair<std::string, std::string>>;

  virtual ~MpiIo() = default;
  // Creates an empty file, so that hints about its placement take effect. Errors: kExists; kUsage
  // if MPI does not accept the hints or the path.
  virtual Status create(const std::string& path, const Hints& hints) const = 0;
  // Opens `file`, which is at `path`, for access by MPI-IO from this rank only. `file` still
  // provides the name, the lock and publish(). `threads` says whether several threads will use the
  // file. Errors: see create().
  virtual Result<std::unique_ptr<OutputFile>> open(std::unique_ptr<OutputFile> file,
                                                   const std::string& path, const Hints& hints,
                                                   bool threads) const = 0;
};

// Keeps the memory of long messages for later messages. Reused memory is faster than new memory,
// because the system fills each page of new memory with zeros. Only one thread may use this object
// at a time.
class MessageMemory {
 public:
  static constexpr std::size_t kMost = 12 << 20;  // maximum number of bytes that are kept

  MessageMemory() { kept_.reserve(kMostVectors); }
  // Returns a vector with room for `length` bytes; its content is unspecified.
  NMB_EXPORT std::vector<std::byte> take(std::size_t length);
  NMB_EXPORT void give_back(std::vector<std::byte> bytes) noexcept;
  std::size_t kept() const { return kept_bytes_; }

 private:
  // The C library itself keeps the memory of vectors shorter than kLong.
  static constexpr std::size_t kLong = 64 << 10, kMostVectors = 64;
  std::vector<std::vector<std::byte>> kept_;
  std::size_t kept_bytes_ = 0;
};

// One rank's end of a network that carries messages between ranks. The library has transports for
// threads and for MPI. Tests use further transports. Only one thread may use a transport at a time.
// Messages from one rank to another arrive in the order in which they were sent.
class Transport {
 public:
  struct Arrival {
    int from = 0;
    std::vector<std::byte> bytes;
  };

  // If the network has failed, the destructor does not wait for messages that are on their way.
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Returns the maximum length of a message for send(), in bytes.
  virtual std::size_t max_message() const { return std::size_t{1} << 30; }
  // Returns the lowest rank on this machine.
  virtual int node_leader() const = 0;
  // Returns whether a pointer of one rank is valid on the other ranks.
  virtual bool shares_memory() const = 0;
  // Sends the bytes, which must not be empty. Does not wait for the receiver.
  virtual Status send(int to, std::vector<std::byte> bytes) = 0;
  // Waits for the next message from any rank. Fails if the network has failed for operation number
  // `operation` of the communicator, in which this rank is.
  virtual Result<Arrival> next(std::uint64_t operation) = 0;
  // Makes the network fail for all operations from number `from` on: next() then fails on every
  // rank. Earlier operations still complete, because the caller has sent all their messages. This
  // rank sends no more messages. If fail() is called several times, the first reason and the lowest
  // number count.
  virtual void fail(const Status& why, std::uint64_t from) = 0;
  // Says before the destruction that this rank takes no part in operations from number `from` on.
  void end_before(std::uint64_t from) { end_ = from; }
  // Returns the CPU seconds that next() has spent waiting for messages.
  virtual double waiting_seconds() const = 0;
  // Keeps `what` alive at least until the other ranks have noticed the network's failure, or have
  // ended.
  void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }
  // Returns the object that creates and opens files by MPI-IO; nullptr if the ranks are not MPI
  // ranks.
  virtual const MpiIo* mpi_io() const { return nullptr; }

  const std::shared_ptr<MessageMemory>& memory() const { return memory_; }

 protected:
  std::vector<std::shared_ptr<const void>> kept_;
  std::uint64_t end_ = 0;  // set by end_before()

 private:
  std::shared_ptr<MessageMemory> memory_ = std::make_shared<MessageMemory>();
};

// Numbers of messages and bytes that a rank has sent, and the maximum number of bytes of messages
// that it held at one time.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;
};

// A message that has arrived. Messages with the same bytes may share the memory of the bytes.
class Message {
 public:
  Message() = default;
  // The last message that owns the bytes gives their memory back to `memory`.
  NMB_EXPORT Message(int from, std::vector<std::byte> bytes, std::shared_ptr<MessageMemory> memory);
  // `bytes` must be a part of `*owner`.
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

// All ranks that share a file must call the same collective operations in the same order. Each
// operation returns when this rank's part is done. If the network fails, all ranks get the same
// failure, and all later operations fail too. The network fails, for example, if fail() is called
// or an MPI function returns an error. An operation that has returned on the rank that calls fail()
// still completes on the other ranks. Only one thread may use a communicator at a time. Memory
// exhaustion throws std::bad_alloc; the other ranks then wait until fail() is called.
class Communicator {
 public:
  // Makes a communicator of a single rank.
  Communicator() = default;
  NMB_EXPORT explicit Communicator(std::unique_ptr<Transport> transport);
  // Gives up if give_up_later() was called, or if other MPI ranks do not end within 2 s.
  NMB_EXPORT ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Returns whether this rank is the lowest rank on its machine.
  bool leads_node() const { return node_leader() == rank_; }
  // Returns the lowest rank on this machine.
  int node_leader() const { return transport_ ? transport_->node_leader() : 0; }
  bool shares_memory() const { return !transport_ || transport_->shares_memory(); }
  const Traffic& traffic() const { return traffic_; }
  // Sets Traffic::peak_bytes to the number of bytes that are held now.
  void restart_peak() { traffic_.peak_bytes = held_; }
  // Used by the writer; see Transport::mpi_io().
  const MpiIo* mpi_io() const { return transport_ ? transport_->mpi_io() : nullptr; }
  double waiting_seconds() const { return transport_ ? transport_->waiting_seconds() : 0; }

  // Sets whether agree() adds the rank to a failure's message. The default is true; the value must
  // be the same on all ranks. A program that uses threads may not want messages to mention ranks.
  void set_names_ranks(bool on) { names_ranks_ = on; }

  // Collective: returns on all ranks the failure of the lowest rank that has failed. If
  // set_names_ranks() is on, the message ends with the number of the rank that failed. `operation`
  // is the name of the caller's operation, at most 31 bytes. `file` is the number of the caller's
  // file (number_file()). `arguments` is a checksum of the operation's arguments. If one of these
  // differs between ranks, all ranks get kUsage.
  NMB_EXPORT Status agree(const Status& status, std::string_view operation = {},
                          std::uint64_t file = 0, std::uint64_t arguments = 0);
  // Collective: runs work() on rank 0 only and returns its Status on all ranks, without adding the
  // rank to the message. Call first() for work whose failures do not depend on the rank, for
  // example because the target exists.
  template <class Work>
  Status first(Work work) {
    return of_first(rank_ == 0 ? Status(work()) : Status());
  }
  // Returns the next file number; the first number is 1. File numbers are the same on all ranks,
  // because all ranks open the same files in the same order.
  std::uint64_t number_file() { return ++files_; }
  // Returns how often agree() or first() returned a failure. All ranks get the same number.
  std::uint64_t agreed_failures() const { return agreed_failures_; }
  // Returns how often agree() found that ranks run different operations.
  std::uint64_t differing_calls() const { return differing_calls_; }
  // Waits until all ranks have called barrier().
  NMB_EXPORT Status barrier();
  // Copies the vector *bytes of rank `root` to all ranks.
  NMB_EXPORT Status broadcast(int root, std::vector<std::byte>* bytes);

  // Sends parcels to any ranks, including this rank. Returns the parcels that arrive, sorted by
  // sender; parcels from one sender keep their order. Short parcels are forwarded from rank to
  // rank. To forward short parcels, each rank sends ceil(log2(size)) messages. Long parcels are
  // sent directly to the receiving rank (parallel/exchange.cpp).
  struct Parcel {
    int to = 0;
    std::vector<std::byte> bytes;
  };
  NMB_EXPORT Result<std::vector<Message>> exchange(std::vector<Parcel> parcels);

  // Combines the values of all ranks, in order of ranks. `combine(x, y)` gets the value x of ranks
  // a to b and the value y of ranks b+1 to c; it must return the value of ranks a to c. The
  // operation must be associative.
  template <class T, class Combine>
  Result<T> all_reduce(T value, Combine combine);
  // Works like agree() and then all_reduce(), with the messages of all_reduce() alone unless a rank
  // has failed.
  template <class T, class Combine>
  Result<T> agree_and_reduce(const Status& status, T value, Combine combine) {
    struct Both {
      bool failed;
      T value;
    };
    NMB_ASSIGN(const Both all,
               all_reduce(Both{!status.ok(), value}, [&](const Both& a, const Both& b) {
                 return Both{a.failed || b.failed, combine(a.value, b.value)};
               }));
    if (all.failed) return agree(status);
    return all.value;
  }
  // Combines the values of all ranks with a lower number than this rank. Returns `first` on rank 0.
  template <class T, class Combine>
  Result<T> scan_before(T value, T first, Combine combine);
  template <class T>
  Result<T> broadcast_value(int root, T value);

  // Makes the network fail for the reason `why`: on every rank, the next operation fails that has
  // not returned on this rank.
  NMB_EXPORT void fail(const Status& why);
  // Says that this rank has left a collective call of the others. Works like fail(), but between
  // begin_work() and end_work() the network fails only when the work ends or this rank begins
  // another operation, because the Status with which the work ends is the better reason.
  NMB_EXPORT void give_up(const Status& why);
  // Works like give_up(), but the network fails only when the work ends, or when this rank begins
  // another operation or destroys its Communicator. A call of fail() before that counts instead.
  void give_up_later(const Status& why) {
    if (gave_up_.ok()) gave_up_ = why;
  }
  // Returns agreed_failures(), for end_work().
  std::uint64_t begin_work() {
    ++works_;
    return agreed_failures_;
  }
  // Makes a failure of this rank's work the failure of all ranks, and returns it.
  NMB_EXPORT Status end_work(const Status& status, std::uint64_t failures_before);
  // Calls fail(), and returns the failure that all ranks get: the first failure of the network.
  NMB_EXPORT Status fail_together(const Status& why);

  // Keeps `what` alive until the other ranks have noticed the failure; see Transport.
  void keep(std::shared_ptr<const void> what) {
    if (transport_) transport_->keep(std::move(what));
  }

  // Returns an empty vector for a parcel. The vector has room for `length` bytes and for the bytes
  // that send() appends.
  NMB_EXPORT std::vector<std::byte> parcel_bytes(std::size_t length);

 private:
  // Identifies the messages of one operation. Operations have the same numbers on all ranks; the
  // low bits of a tag are the kind of operation.
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

  NMB_EXPORT Tag next_tag(Operation what);
  static std::uint64_t number_of(Tag tag) { return tag >> kOperationBits; }
  // Called at the end of an operation, when this rank has sent all of its messages.
  void complete() { completed_ = operations_; }
  Status send(int to, Tag tag, std::vector<std::byte> bytes);
  NMB_EXPORT Status send_copy(int to, Tag tag, std::span<const std::byte> bytes);
  NMB_EXPORT Result<Message> receive(int from, Tag tag);
  Status receive_all(Tag tag, std::size_t count, std::vector<Message>* out);
  NMB_EXPORT Status of_first(const Status& status);
  Status broadcast(Operation what, int root, std::vector<std::byte>* bytes);
  Status take_arrival(Tag tag);
  // Fails if a message of a different call has arrived, which shows that another rank is not in the
  // same call.
  Status check_same(Tag tag);
  // Makes the network fail, because rank `from` is in another call. Without this failure, the ranks
  // would wait for each other forever.
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
  std::uint64_t completed_ = 0;  // number of the last operation that has returned
  int works_ = 0;                // nested calls of begin_work()
  Status gave_up_;
  std::uint64_t files_ = 0;
  std::uint64_t agreed_failures_ = 0, differing_calls_ = 0;
  // Messages that have arrived but that receive() has not returned yet.
  std::map<Tag, std::vector<Message>> waiting_;
  std::map<int, Partial> partial_;
  Traffic traffic_;
  std::uint64_t held_ = 0;
  std::uint64_t delivered_ = 0;  // bytes that exchange() is about to return
};

template <class T, class Combine>
Result<T> Communicator::all_reduce(T value, Combine combine) {
  if (size_ == 1) return value;
  const Tag tag = next_tag(Operation::kReduce);
  // Combines values in a binomial tree towards rank 0. Before each step, `value` covers ranks
  // [rank, rank + step).
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
  // `value` covers ranks (rank - step, rank]; `before` covers the same ranks except for this rank.
  for (int step = 1; step < size_; step *= 2) {
    if (rank_ + step < size_) NMB_TRY(send_value(rank_ + step, tag, value));
    if (rank_ >= step) {
      NMB_ASSIGN(const T below, receive_value<T>(rank_ - step, tag));
      value = combine(below, value);
      before = any ? combine(below, before) : below;
      any = true;
    }
  }
  complete();
  return before;
}

template <class T>
Result<T> Communicator::broadcast_value(int root, T value) {
  if (size_ == 1) return value;
  const Tag tag = next_tag(Operation::kBroadcastValue);
  // Sends the value along a binomial tree, in which ranks are numbered from the root.
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
  complete();
  return value;
}

// --- ranks that are threads of one process ---

// Returns the ends of a network between `size` threads. Each end may be handed to another thread. A
// rank whose end is destroyed sends no more messages. If all remaining ranks then wait for each
// other, next() fails with kUsage on each of them.
NMB_EXPORT std::vector<std::unique_ptr<Transport>> make_thread_network(int size);

// Runs `body` on `size` threads at once, each with its own communicator, and waits for all threads.
// If `body` fails on a rank, the network fails, so that no other rank waits for that rank; the
// failure is returned. An exception of `body` counts as a failure. `stack` is the stack size of
// each thread in bytes; 0 means the system's default. Errors: kLimit if a thread cannot be created.
NMB_EXPORT Status run_thread_ranks(int size, const std::function<Status(Communicator&)>& body,
                                   std::size_t stack = 0);

// --- ranks that are processes of an MPI job ---

// libnmb is not linked with any MPI library. On demand, it loads the plug-in for the MPI library
// that launched the program.

// Returns the MPI library whose launcher (mpiexec, srun) started this process. The function looks
// at the environment variables of the process. Returns nullopt if the process was started without a
// launcher. Returns kMpich if Slurm started several processes without Slurm's MPI support;
// open_mpi_ranks() then fails.
NMB_EXPORT std::optional<MpiLibrary> launched_by();

// Returns how many processes the launcher started, according to the environment variables of this
// process. Returns 0 if the number is unknown.
NMB_EXPORT int launched_ranks();
// Returns which of these processes this one is, from 0. Returns 0 if this is unknown.
NMB_EXPORT int launched_rank();

// Collective: returns a communicator of the ranks of *comm. `comm` points to an MPI_Comm of the MPI
// library `library`. The function makes a duplicate of this MPI_Comm. If `comm` is nullptr,
// MPI_COMM_WORLD is used. Call this function, and use the communicator, on the thread that
// initialised MPI. If MPI has not been initialised, this function initialises MPI, and the library
// finalises MPI when the program ends. Destruction of the communicator is collective. The
// destructor waits up to 2 s for the other ranks. After a failure, the destructor waits up to 2 s
// for each further message. A rank that gives up must call fail() before it ends; otherwise the
// other ranks wait for it. Looks for the plug-in nmb-mpi-openmpi.so or nmb-mpi-mpich.so in
// plugin_folders() (files/plugin_folders.h). Fails with kUnsupported if the plug-in is missing,
// cannot be loaded or belongs to another build, or if the plug-in's MPI library did not launch this
// process. Fails with kUsage if this process uses another MPI library, if MPI was finalised, or if
// *comm is not an intracommunicator.
NMB_EXPORT Result<std::unique_ptr<Communicator>> open_mpi_ranks(MpiLibrary library,
                                                                const void* comm = nullptr);

}  // namespace nmb
