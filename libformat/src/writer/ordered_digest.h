// OrderedDigest: computes the digests of a file and the sums of parts of the file, while several
// threads read the file at different offsets.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "wire/hash.h"
#include "wire/sha256.h"

namespace nmb {

// A part of the file. The sum of this part is needed.
struct WantedSum {
  std::uint64_t begin, length;
  std::uint64_t* sum;  // receives the sum
  std::uint64_t end() const { return begin + length; }
};

// Threads must take ranges of the file in ascending order, and each thread must add its ranges in
// that order. Under this condition, a thread waits only for threads that add earlier ranges. The
// object needs little memory before the first byte is added and after the last byte was added.
class OrderedDigest {
 public:
  // length: length of the file, in bytes.
  OrderedDigest(std::uint64_t length, bool with_sha256)
      : length_(length), has_sha256_(with_sha256) {
    if (length > 0) return;
    Streams none(with_sha256);
    finish(none);
  }
  // Sets the parts whose sums are computed while bytes are added. If parts overlap, returns false
  // and computes no sums.
  bool want(std::vector<WantedSum> parts) {
    std::ranges::sort(parts, {}, &WantedSum::begin);
    for (std::size_t i = 1; i < parts.size(); ++i)
      if (parts[i].begin < parts[i - 1].end()) return false;
    wanted_ = std::move(parts);
    return true;
  }
  // Waits until all bytes before `offset` have been added, and then adds these bytes. `stop`
  // becomes true when another thread fails. If `stop` becomes true during the wait, the bytes are
  // not added.
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
    lock.unlock();  // only this thread adds the bytes at `offset`
    if (!streams_) streams_ = std::make_unique<Streams>(has_sha256_);
    streams_->digest.add(bytes);
    if (has_sha256_) streams_->sha256->add(bytes);
    SumStream& sum = streams_->part;
    for (auto part = first; part < past; ++part) {
      if (part->begin >= offset && part->end() <= end) continue;
      if (part->begin >= offset) sum = SumStream();
      sum.add(bytes_of(*part));
      if (part->end() <= end) *part->sum = sum.sum();
    }
    if (end == length_) {
      finish(*streams_);
      streams_.reset();
    }
    lock.lock();
    next_ = end;
    if (end == length_) wanted_ = {};
    turn_.notify_all();
  }
  // Valid after all bytes were added.
  const Digest& digest() const { return digest_; }
  bool has_sha256() const { return has_sha256_; }
  const Sha256& sha256() const { return sha256_; }

 private:
  struct Streams {
    explicit Streams(bool with_sha256) {
      if (with_sha256) sha256.emplace();
    }
    DigestStream digest;
    std::optional<Sha256Stream> sha256;
    SumStream part;  // sum of the part that is not yet complete
  };
  void finish(Streams& streams) {
    digest_ = streams.digest.digest();
    if (has_sha256_) sha256_ = streams.sha256->digest();
  }

  const std::uint64_t length_;
  const bool has_sha256_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  std::unique_ptr<Streams> streams_;
  std::vector<WantedSum> wanted_;  // ascending
  Digest digest_;
  Sha256 sha256_{};
};

}  // namespace nmb
