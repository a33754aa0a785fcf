#include "common/printing/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <new>
#include <system_error>

#include "common/printing/terminal.h"
#include "common/printing/units.h"

namespace nmb::tools {

namespace {

// --no-progress sets this before any Progress is made.
bool no_progress = false;

constexpr std::string_view kClear = "\r\x1b[K";

void write_to_terminal(std::string_view text) {
  // A failure to write to the terminal does not matter.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void offer_progress(Tool&, CLI::App& command) {
  command.add_flag("--no-progress", no_progress, "do not show progress on a terminal");
}

Progress::Progress(Tool& tool, std::string what)
    : tool_(tool),
      what_(std::move(what)),
      on_(is_terminal(STDERR_FILENO) && !tool.options().quiet && !no_progress),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {
  if (!on_) return;
  tool_.out().set_before_writing([this] { finish(); });
  tool_.diagnostics().set_before_writing([this] { finish(); });
}

Progress::~Progress() {
  if (!on_) return;
  clock_ = {};  // waits for its thread
  tool_.out().set_before_writing(nullptr);
  tool_.diagnostics().set_before_writing(nullptr);
}

std::function<void(std::uint64_t, std::uint64_t)> Progress::callback() {
  if (!on_) return nullptr;
  return [this](std::uint64_t done, std::uint64_t total) { show(done, total); };
}

bool Progress::may_show() const { return !tool_.out().is_paged() && !tool_.out().is_within_line(); }

void Progress::write(const std::string& text) {
  write_to_terminal(std::string(kClear) + what_ + ": " + text);
  shown_ = true;
}

void Progress::show(std::uint64_t done, std::uint64_t total) {
  if (!may_show()) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  only_time_ = false;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const std::string per_second = human_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  if (total == kUnknownTotal) return write(human_bytes(done) + " read, " + per_second);
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  write(fmt::format("{} of {}, {}, {:.0f} s left", human_bytes(done), human_bytes(total),
                    per_second, left));
}

void Progress::show_time() {
  if (!on_) return;
  try {
    clock_ = std::jthread([this](const std::stop_token& stop) { run_clock(stop); });
  } catch (const std::system_error&) {
    // No thread can be started, so no time is shown.
  }
}

void Progress::run_clock(const std::stop_token& stop) try {
  std::unique_lock lock(mutex_);
  for (int seconds = 1; only_time_; ++seconds) {
    (void)stopped_.wait_until(lock, stop, start_ + std::chrono::seconds(seconds),
                              [] { return false; });
    if (stop.stop_requested()) return;
    if (only_time_ && may_show()) write(fmt::format("{} s", seconds));
  }
} catch (const std::bad_alloc&) {
  // No more time is shown. The main thread reports that memory is exhausted.
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (shown_) write_to_terminal(kClear);
  shown_ = only_time_ = false;
}

}  // namespace nmb::tools
