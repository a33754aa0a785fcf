// VisitedFiles: the files that convert/references.cpp has already checked against one set of
// outputs.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>

namespace nmb {

// Thread-safe.
class VisitedFiles {
 public:
  using Duration = std::chrono::steady_clock::duration;
  enum class VisitResult { kNew, kKnown, kTooMany };

  // Records a file. Returns kTooMany if the file is new and the number of files or the time has
  // reached its limit.
  VisitResult enter(const std::string& path, std::size_t most, Duration most_time) {
    const std::lock_guard lock(mutex_);
    if (paths_.contains(path)) return VisitResult::kKnown;
    if (paths_.size() >= most || time_ > most_time) return VisitResult::kTooMany;
    paths_.insert(path);
    return VisitResult::kNew;
  }
  void add_time(Duration time) {
    const std::lock_guard lock(mutex_);
    time_ += time;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> paths_;
  Duration time_{};
};

}  // namespace nmb
