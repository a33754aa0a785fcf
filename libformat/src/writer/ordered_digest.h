// OrderedDigest: the digest of bytes that several threads read, each at its own offset.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>

#include "wire/hash.h"

namespace nmb {

// Threads take windows in ascending order, and each adds its windows in that order: a thread only
// waits for one that is ahead of it.
class OrderedDigest {
 public:
  // Adds the bytes at `offset` as soon as all before them were added. stop: set when another thread
  // has failed; the bytes are then not added.
  void add(std::uint64_t offset, std::span<const std::byte> bytes, const std::atomic<bool>& stop) {
    std::unique_lock lock(mutex_);
    while (offset != next_) {
      if (stop.load(std::memory_order_relaxed)) return;
      turn_.wait_for(lock, std::chrono::milliseconds(5));
    }
    lock.unlock();  // no other thread has this turn
    stream_.add(bytes);
    lock.lock();
    next_ += bytes.size();
    turn_.notify_all();
  }
  Digest digest() const { return stream_.digest(); }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  DigestStream stream_;
};

}  // namespace nmb
