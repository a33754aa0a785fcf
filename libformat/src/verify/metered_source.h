// MeteredSource: counts the bytes read of a source, tells of them and keeps to a rate.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "nmb/verify.h"

namespace nmb {

class MeteredSource final : public ByteSourceLayer {
 public:
  // `base` and `options` outlive the source.
  MeteredSource(const ByteSource& base, const VerifyOptions& options)
      : ByteSourceLayer(not_owned(base)),
        rate_(options.rate),
        progress_(options.progress),
        start_(std::chrono::steady_clock::now()) {}

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    account(out.size());
    return base()->read_at(offset, out);
  }
  // Bytes that are about to be read, here or of a file that belongs to this one.
  void account(std::uint64_t more) const {
    const std::uint64_t bytes = bytes_ += more;
    if (progress_) {
      // A thread that finds another one telling goes on: that of the next read will be newer.
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
  static constexpr double kLongestWait = 1e9;  // seconds that a clock can count
  const std::uint64_t rate_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  mutable std::mutex telling_;
  const std::chrono::steady_clock::time_point start_;
  mutable std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace nmb
