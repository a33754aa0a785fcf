// Shows one line of progress on a terminal (see progress.h).
#include "common/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/terminal.h"
#include "common/units.h"

namespace nmb::tools {

namespace {

// --no-progress sets this before any Progress is made.
bool no_progress = false;

void write_line(const std::string& text) {
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
  if (on_) tool_.out().set_before_writing([this] { finish(); });
}

Progress::~Progress() {
  if (on_) tool_.out().set_before_writing(nullptr);
}

std::function<void(std::uint64_t, std::uint64_t)> Progress::callback() {
  if (!on_) return nullptr;
  return [this](std::uint64_t done, std::uint64_t total) { show(done, total); };
}

void Progress::show(std::uint64_t done, std::uint64_t total) {
  if (tool_.out().is_paged()) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  write_line(fmt::format("\r\x1b[K{}: {} of {}, {}/s, {:.0f} s left", what_, human_bytes(done),
                         human_bytes(total), human_bytes(static_cast<std::uint64_t>(rate)), left));
  shown_ = true;
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (shown_) write_line("\r\x1b[K");
  shown_ = false;
}

}  // namespace nmb::tools
