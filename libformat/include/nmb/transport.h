// Transport: one rank's end of a network that carries messages from rank to rank. What a
// communicator is built on; threads and MPI are transports, and tests make their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nmb/status.h"

namespace nmb {

class MpiIo;

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

// Used by one thread at a time. Messages between two ranks arrive in the order they were sent.
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

}  // namespace nmb
