// Diagnostics: what a tool says on standard error, and the exit code that follows from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/exit_code.h"
#include "nmb/status.h"

namespace nmb::tools {

// Lines are "TOOL: FILE: at OFFSET: TEXT"; what comes from files is printable (nmb/text.h).
class Diagnostics {
 public:
  explicit Diagnostics(std::string tool) : tool_(std::move(tool)) {}

  void set_colour(bool on) { colour_ = on; }
  // No warnings and notes; they count nevertheless. Warnings that a newer generation may be missing
  // (R-SB-13) are shown: without them an older state would be taken for the file's.
  void set_quiet(bool on) { quiet_ = on; }
  // Says nothing; the exit code follows nevertheless. For all ranks of a program but one.
  void set_silent(bool on) { silent_ = on; }
  // Warnings are findings: Exit::kFindings.
  void set_strict(bool on) { strict_ = on; }

  // Raises the exit code to that of the status. Nothing if it is ok.
  void error(const Status& status);
  // Shown are the first kMostWarnings, and all of a newer generation.
  void warning(std::string_view file, std::string_view text);
  void warning(std::string_view file, const Finding& finding) { warning(file, finding.text()); }
  // Neither error nor warning, as --io-stats; shown under -q too where `asked_for`.
  void note(std::string_view text, bool asked_for = false);
  // Says how many warnings were not shown.
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
