// MeteredSource: counts the bytes read from a source, reports progress and limits the rate. Keeps
// some of the bytes of originals in memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "nmb/verify.h"
#include "verify/recent_bytes.h"

namespace nmb {

class MeteredSource final : public ByteSourceLayer {
 public:
  // `base` and `options` must outlive the source.
  MeteredSource(const ByteSource& base, const VerifyOptions& options)
      : ByteSourceLayer(not_owned(base)),
        rate_(options.rate),
        progress_(options.progress),
        start_(std::chrono::steady_clock::now()) {}

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto read = [this](std::uint64_t at, std::span<std::byte> bytes) {
      account(bytes.size());
      return base()->read_at(at, bytes);
    };
    const std::optional<Status> copied = recent_.copy(offset, out, read);
    return copied ? *copied : read(offset, out);
  }
  // Adds a range of bytes that will be read several times.
  void keep(std::uint64_t begin, std::uint64_t end) { recent_.keep(begin, end); }
  // Counts bytes that are about to be read from this source or from an external file.
  void account(std::uint64_t more) const {
    const std::uint64_t bytes = bytes_ += more;
    if (progress_) {
      // If another thread is reporting, this thread reports nothing. The next read will report
      // newer numbers.
      const std::unique_lock lock(telling_, std::try_to_lock);
      if (lock.owns_lock()) progress_(std::min(bytes, size()), size());
    }
    if (rate_ != 0) {
      const double seconds = static_cast<double>(bytes) / static_cast<double>(rate_);
      std::this_thread::sleep_until(
          start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(std::min(seconds, kLongestWait))));
    }
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr double kLongestWait =
      1e9;  // longest wait in seconds; a much longer wait would overflow the clock
  const std::uint64_t rate_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  mutable std::mutex telling_;
  const std::chrono::steady_clock::time_point start_;
  mutable std::atomic<std::uint64_t> bytes_{0};
  mutable RecentBytes recent_;
};

}  // namespace nmb
