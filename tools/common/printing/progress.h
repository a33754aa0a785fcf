// Progress: one line on a terminal with the bytes done, the rate and, if the total is known, the
// remaining time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "common/command_line/tool.h"

namespace nmb::tools {

// The total of callback() if nobody knows how many bytes will be done.
inline constexpr std::uint64_t kUnknownTotal = ~std::uint64_t{0};

// Adds --no-progress.
void offer_progress(Tool& tool, CLI::App& command);

// Shows nothing if standard error is not a terminal, or if -q or --no-progress is given. Clears the
// line whenever the tool's output or a message is written. Thread-safe.
class Progress {
 public:
  Progress(Tool& tool, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Returns a function that the library calls with the bytes done and the total bytes
  // (kUnknownTotal is allowed). Returns nullptr if nothing is to be shown.
  std::function<void(std::uint64_t, std::uint64_t)> callback();
  // Shows the seconds that have passed, until the callback shows bytes or the tool writes. Use this
  // for work that begins with a long wait, for example for the process that reads HDF5 files.
  void show_time();
  // Clears the line.
  void finish();

 private:
  void show(std::uint64_t done, std::uint64_t total);
  void run_clock(const std::stop_token& stop);
  bool may_show() const;
  void write(const std::string& text);

  Tool& tool_;
  const std::string what_;
  const bool on_;
  std::mutex mutex_;
  bool shown_ = false;
  bool only_time_ = true;  // whether no bytes have been shown, and nothing else has been written
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  std::condition_variable_any stopped_;
  std::jthread clock_;  // the last member, because its thread uses the others
};

}  // namespace nmb::tools
