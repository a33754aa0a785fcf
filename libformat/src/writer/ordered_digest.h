// OrderedDigest: the digest of bytes that several threads read, each at its own offset, and sums of
// parts of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "wire/hash.h"
#include "wire/sha256.h"

namespace nmb {

// A part of the bytes whose sum is needed.
struct WantedSum {
  std::uint64_t begin, length;
  std::uint64_t* sum;
  std::uint64_t end() const { return begin + length; }
};

// Threads take windows in ascending order, and each adds its windows in that order: a thread only
// waits for one that is ahead of it.
class OrderedDigest {
 public:
  explicit OrderedDigest(bool with_sha256) {
    if (with_sha256) sha256_.emplace();
  }
  // Sets the parts to sum while bytes are added. Returns false if parts overlap; they are then not
  // summed.
  bool want(std::vector<WantedSum> parts) {
    std::ranges::sort(parts, {}, &WantedSum::begin);
    for (std::size_t i = 1; i < parts.size(); ++i)
      if (parts[i].begin < parts[i - 1].end()) return false;
    wanted_ = std::move(parts);
    return true;
  }
  // Adds the bytes at `offset` as soon as all before them were added. stop: set when another thread
  // has failed; the bytes are then not added.
  void add(std::uint64_t offset, std::span<const std::byte> bytes, const std::atomic<bool>& stop) {
    const std::uint64_t end = offset + bytes.size();
    const auto bytes_of = [&](const WantedSum& part) {
      const std::uint64_t from = std::max(part.begin, offset), to = std::min(part.end(), end);
      return bytes.subspan(from - offset, to - from);
    };
    const auto first = std::ranges::upper_bound(wanted_, offset, {}, &WantedSum::end);
    const auto past = std::ranges::lower_bound(wanted_, end, {}, &WantedSum::begin);
    for (auto part = first; part < past; ++part)
      if (part->begin >= offset && part->end() <= end) *part->sum = sum_of(bytes_of(*part));
    std::unique_lock lock(mutex_);
    while (offset != next_) {
      if (stop.load(std::memory_order_relaxed)) return;
      turn_.wait_for(lock, std::chrono::milliseconds(5));
    }
    lock.unlock();  // no other thread has this turn
    stream_.add(bytes);
    if (sha256_) sha256_->add(bytes);
    for (auto part = first; part < past; ++part) {
      if (part->begin >= offset && part->end() <= end) continue;
      if (part->begin >= offset) part_ = SumStream();
      part_.add(bytes_of(*part));
      if (part->end() <= end) *part->sum = part_.sum();
    }
    lock.lock();
    next_ += bytes.size();
    turn_.notify_all();
  }
  // After all bytes were added; sha256() at most once.
  Digest digest() const { return stream_.digest(); }
  bool has_sha256() const { return sha256_.has_value(); }
  Sha256 sha256() { return sha256_->digest(); }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  DigestStream stream_;
  std::optional<Sha256Stream> sha256_;
  std::vector<WantedSum> wanted_;  // ascending
  SumStream part_;                 // of the part that has begun and has not ended
};

}  // namespace nmb
