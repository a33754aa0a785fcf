// Progress: one line on a terminal with the bytes done, the rate and the remaining time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "common/tool.h"

namespace nmb::tools {

// Adds --no-progress.
void offer_progress(Tool& tool, CLI::App& command);

// Shows nothing if standard error is not a terminal, or if -q or --no-progress is given. Clears the
// line whenever the tool's output is written. Thread-safe.
class Progress {
 public:
  Progress(Tool& tool, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Returns a function that the library calls with the bytes done and the total bytes. Returns
  // nullptr if nothing is to be shown.
  std::function<void(std::uint64_t, std::uint64_t)> callback();
  // Clears the line.
  void finish();

 private:
  void show(std::uint64_t done, std::uint64_t total);

  Tool& tool_;
  const std::string what_;
  const bool on_;
  std::mutex mutex_;
  bool shown_ = false;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace nmb::tools
