// Diagnostics: writes a tool's messages to standard error and determines its exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/command_line/exit_code.h"
#include "wire/failure.h"

namespace nmb::tools {

// A message is one line: "TOOL: FILE: at OFFSET: TEXT". Texts from files are made printable
// (model/text.h).
class Diagnostics {
 public:
  explicit Diagnostics(std::string tool) : tool_(std::move(tool)) {}

  void set_colour(bool on) { colour_ = on; }
  // Hides warnings and notes, except losses; hidden warnings are still counted. Warnings that a
  // newer generation may be missing (R-SB-13) are shown, because without them a user would not
  // notice that the tool shows an older state of the file.
  void set_quiet(bool on) { quiet_ = on; }
  // Hides all messages; the exit code is still determined. If a program has several ranks, all but
  // one are silent.
  void set_silent(bool on) { silent_ = on; }
  // `call` is called before a message is written; nullptr: nothing is called.
  void set_before_writing(std::function<void()> call) { before_writing_ = std::move(call); }
  // Treats warnings as findings (Exit::kFindings).
  void set_strict(bool on) { strict_ = on; }

  // Shows `status` and raises the exit code accordingly. Does nothing if `status` is ok.
  void error(const Status& status);
  // Shows a warning if it is one of the first kMostWarnings warnings, or if it says that a newer
  // generation may be missing.
  void warning(std::string_view file, std::string_view text);
  void warning(std::string_view file, const Finding& finding) { warning(file, finding.text()); }
  // Shows a warning about content of an input that the output lacks, even with -q.
  void loss(std::string_view file, std::string_view text);
  // Shows a text that is neither an error nor a warning; with -q, only if `asked_for` is true.
  void note(std::string_view text, bool asked_for = false);
  // Reports how many warnings were not shown.
  void finish();

  void raise(Exit exit) { exit_ = worse(exit_, exit); }
  Exit exit() const { return exit_; }

 private:
  void warning(std::string_view file, std::string_view text, bool is_shown);
  void line(std::string_view kind, std::string_view text);

  static constexpr std::uint64_t kMostWarnings = 100;
  std::string tool_;
  std::uint64_t warnings_ = 0;
  bool colour_ = false, quiet_ = false, silent_ = false, strict_ = false;
  Exit exit_ = Exit::kDone;
  std::function<void()> before_writing_;
};

}  // namespace nmb::tools
