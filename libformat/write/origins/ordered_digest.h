// OrderedDigest: computes the digests of a file and the sums of parts of the file, while several
// threads read the file at different offsets. If the file has a head, the threads read only the
// bytes after it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "files/file_digester.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/hash.h"

namespace nmb {

// A part of the file whose sum is needed.
struct WantedSum {
  std::uint64_t begin, length;
  std::uint64_t* sum;  // receives the sum
  std::uint64_t end() const { return begin + length; }
};

// Threads must take ranges of the file in ascending order, and each thread must add its ranges in
// that order, so that a thread waits only for threads that add earlier ranges. The object needs
// little memory before the first byte is added and after the last byte was added.
class OrderedDigest {
 public:
  // head: the first bytes of the file, or nullptr. length: number of bytes after the head.
  OrderedDigest(std::uint64_t length, bool with_sha256,
                std::shared_ptr<const ByteSource> head = nullptr)
      : length_(length), has_sha256_(with_sha256), head_(std::move(head)) {}
  // Sets the parts whose sums are computed while bytes are added. If parts overlap, returns false
  // and computes no sums.
  bool want(std::vector<WantedSum> parts) {
    std::ranges::sort(parts, {}, &WantedSum::begin);
    for (std::size_t i = 1; i < parts.size(); ++i)
      if (parts[i].begin < parts[i - 1].end()) return false;
    wanted_ = std::move(parts);
    return true;
  }
  // Waits until all bytes before `offset` have been added, and then adds `bytes`. If `stop`, which
  // becomes true when another thread fails, is true during the wait, adds nothing. Fails if the
  // head cannot be read.
  Status add(std::uint64_t offset, std::span<const std::byte> bytes,
             const std::atomic<bool>& stop) {
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
      if (stop.load(std::memory_order_relaxed)) return {};
      turn_.wait_for(lock, std::chrono::milliseconds(5));
    }
    lock.unlock();  // only this thread adds the bytes at `offset`
    if (!streams_) NMB_TRY(begin());
    streams_->file.add(bytes);
    SumStream& sum = streams_->part;
    for (auto part = first; part < past; ++part) {
      if (part->begin >= offset && part->end() <= end) continue;
      if (part->begin >= offset) sum = SumStream();
      sum.add(bytes_of(*part));
      if (part->end() <= end) *part->sum = sum.sum();
    }
    if (end == length_) {
      finish();
    }
    lock.lock();
    next_ = end;
    if (end == length_) wanted_ = {};
    turn_.notify_all();
    return {};
  }
  // Must be called instead of add() if no bytes follow the head. Fails if the head cannot be read.
  Status add_nothing() {
    NMB_TRY(begin());
    finish();
    return {};
  }
  bool has_sha256() const { return has_sha256_; }
  // Valid after all bytes were added. The SHA-256 is zero if has_sha256() is false.
  const FileDigests& digests() const { return digests_; }

 private:
  struct Streams {
    explicit Streams(bool with_sha256) : file(with_sha256) {}
    FileDigester file;
    SumStream part;  // sum of the part that is not yet complete
  };
  // Begins the digests with the head.
  Status begin() {
    constexpr std::uint64_t kWindow = 256 << 10;
    streams_ = std::make_unique<Streams>(has_sha256_);
    const std::uint64_t size = head_ ? head_->size() : 0;
    std::vector<std::byte> window(std::min(size, kWindow));
    for (std::uint64_t at = 0; at < size; at += kWindow) {
      const auto part = std::span(window).first(std::min(size - at, kWindow));
      NMB_TRY(head_->read_at(at, part));
      streams_->file.add(part);
    }
    return {};
  }
  void finish() {
    digests_ = streams_->file.digests();
    streams_.reset();
  }

  const std::uint64_t length_;
  const bool has_sha256_;
  const std::shared_ptr<const ByteSource> head_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  std::unique_ptr<Streams> streams_;
  std::vector<WantedSum> wanted_;  // ascending
  FileDigests digests_;
};

}  // namespace nmb
