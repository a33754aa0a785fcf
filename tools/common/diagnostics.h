// Diagnostics: writes a tool's messages to standard error and determines its exit code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/exit_code.h"
#include "nmb/status.h"

namespace nmb::tools {

// A message is one line: "TOOL: FILE: at OFFSET: TEXT". Texts from files are made printable
// (nmb/text.h).
class Diagnostics {
 public:
  explicit Diagnostics(std::string tool) : tool_(std::move(tool)) {}

  void set_colour(bool on) { colour_ = on; }
  // Hides warnings and notes; hidden warnings are still counted. Warnings that a newer generation
  // may be missing (R-SB-13) are not hidden: without them, a user would take an older state of the
  // file for its current state.
  void set_quiet(bool on) { quiet_ = on; }
  // Hides all messages; the exit code is still determined. Used on all ranks of a program except
  // one.
  void set_silent(bool on) { silent_ = on; }
  // Treats warnings as findings (Exit::kFindings).
  void set_strict(bool on) { strict_ = on; }

  // Shows `status` and raises the exit code accordingly. Does nothing if `status` is ok.
  void error(const Status& status);
  // Shows the first kMostWarnings warnings. Warnings that a newer generation may be missing are
  // shown beyond this number.
  void warning(std::string_view file, std::string_view text);
  void warning(std::string_view file, const Finding& finding) { warning(file, finding.text()); }
  // Shows a text that is neither an error nor a warning. With -q, shows it only if `asked_for` is
  // true.
  void note(std::string_view text, bool asked_for = false);
  // Reports how many warnings were not shown.
  void finish();

  void raise(Exit exit) { exit_ = worse(exit_, exit); }
  Exit exit() const { return exit_; }

 private:
  void line(std::string_view kind, std::string_view text);

  static constexpr std::uint64_t kMostWarnings = 100;
  std::string tool_;
  std::uint64_t warnings_ = 0;
  bool colour_ = false, quiet_ = false, silent_ = false, strict_ = false;
  Exit exit_ = Exit::kDone;
};

}  // namespace nmb::tools
