// Diagnostics: writes a tool's messages to standard error and determines its exit code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/exit_code.h"
#include "nmb/status.h"

namespace nmb::tools {

// Lines are "TOOL: FILE: at OFFSET: TEXT". Texts from files are made printable (nmb/text.h).
class Diagnostics {
 public:
  explicit Diagnostics(std::string tool) : tool_(std::move(tool)) {}

  void set_colour(bool on) { colour_ = on; }
  // Shows no warnings and notes; they count nevertheless. Warnings that a newer generation may be
  // missing (R-SB-13) are shown: otherwise an older state would be taken for the file's state.
  void set_quiet(bool on) { quiet_ = on; }
  // Shows nothing; the exit code is determined nevertheless. For all ranks of a program except one.
  void set_silent(bool on) { silent_ = on; }
  // Warnings count as findings: Exit::kFindings.
  void set_strict(bool on) { strict_ = on; }

  // Raises the exit code to that of the status. Does nothing if it is ok.
  void error(const Status& status);
  // Shows the first kMostWarnings, and all that say that a newer generation may be missing.
  void warning(std::string_view file, std::string_view text);
  void warning(std::string_view file, const Finding& finding) { warning(file, finding.text()); }
  // Shows a text that is neither error nor warning, like that of --io-stats; with -q only if
  // `asked_for`.
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
