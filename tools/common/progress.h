// Progress: one line on a terminal with the bytes done, the rate and the remaining time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "common/tool.h"

namespace nmb::tools {

// Adds --no-progress.
void offer_progress(Tool& tool, CLI::App& command);

// Shows nothing if standard error is not a terminal, or if -q or --no-progress is given.
class Progress {
 public:
  Progress(Tool& tool, std::string what);
  // Returns a function that the library calls with the bytes done and the total bytes. Returns
  // nullptr if nothing is to be shown.
  std::function<void(std::uint64_t, std::uint64_t)> callback();
  // Clears the line.
  void finish();

 private:
  void show(std::uint64_t done, std::uint64_t total);
  std::string what_;
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace nmb::tools
