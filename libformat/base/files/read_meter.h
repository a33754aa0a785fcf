// ReadMeter: counts the bytes that are read from several files, limits the rate of reading, and
// reports progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace nmb {

// Thread-safe.
class ReadMeter {
 public:
  // rate: maximum bytes read per second; 0 for no limit. progress: called by one thread at a time
  // with two numbers, the bytes read (at most `total`) and `total`; may be nullptr.
  ReadMeter(std::uint64_t rate, std::uint64_t total,
            std::function<void(std::uint64_t, std::uint64_t)> progress)
      : rate_(rate),
        total_(total),
        progress_(std::move(progress)),
        start_(std::chrono::steady_clock::now()) {}

  // Counts bytes that are about to be read. Waits if reading is too fast.
  void account(std::uint64_t more) {
    const std::uint64_t bytes = bytes_ += more;
    if (progress_) {
      const std::unique_lock lock(telling_, std::try_to_lock);
      if (lock.owns_lock()) progress_(std::min(bytes, total_), total_);
    }
    if (rate_ == 0) return;
    constexpr double kLongestWait = 1e9;  // seconds; much more would overflow the clock
    const std::uint64_t counted = bytes - std::min<std::uint64_t>(bytes, skipped_);
    const double seconds = static_cast<double>(counted) / static_cast<double>(rate_);
    std::this_thread::sleep_until(
        start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                     std::chrono::duration<double>(std::min(seconds, kLongestWait))));
  }
  // Continues at the number of bytes that an earlier run has read. These bytes do not count for the
  // rate.
  void go_on_at(std::uint64_t bytes) {
    skipped_ += bytes - std::min<std::uint64_t>(bytes, bytes_);
    bytes_ = std::max<std::uint64_t>(bytes, bytes_);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::uint64_t rate_, total_;
  const std::function<void(std::uint64_t, std::uint64_t)> progress_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex telling_;
  std::atomic<std::uint64_t> bytes_{0}, skipped_{0};
};

}  // namespace nmb
