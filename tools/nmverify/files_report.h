// Reports of nmverify: lines of text, or one JSON document ("nmb/verify/1"). Findings are written
// while files are verified, so that they take no memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/printing/output.h"
#include "verify/verify.h"

namespace nmb::tools {

struct VerifyTotals {
  std::uint64_t files = 0;
  std::uint64_t sound = 0;
  std::uint64_t damaged = 0;
  std::uint64_t not_verified = 0;  // could not be read completely
  std::uint64_t findings = 0;
  std::uint64_t warnings = 0;
  std::uint64_t bytes_read = 0;
};

// The order of calls is: begin() first and end() last. Between them, each file has begin_file(),
// then report() and damaged_block() any number of times, and then end_file(). The functions return
// no errors: the Output remembers a failed write.
class FilesReport : public Findings {
 public:
  virtual void begin(VerifyLevel level) = 0;
  virtual void begin_file(const std::string& file) = 0;
  virtual void damaged_block(const std::string& name) = 0;
  // `result` is the result of verify().
  virtual void end_file(const Result<VerifySummary>& result) = 0;
  virtual void end(const VerifyTotals& totals) = 0;
};

std::string_view level_name(VerifyLevel level);

struct ReportOptions {
  // Whether a report as text omits the summaries of files without findings, and all warnings except
  // the warning that a generation may be missing (R-SB-13).
  bool quiet = false;
  bool strict = false;      // whether warnings are findings
  bool originals = false;   // whether the report counts originals
  std::uint64_t since = 0;  // VerifierOptions::since
};

// Return a report that writes to `out`.
std::unique_ptr<FilesReport> text_report(Output& out, const ReportOptions& options);
std::unique_ptr<FilesReport> json_report(Output& out, const ReportOptions& options);

}  // namespace nmb::tools
