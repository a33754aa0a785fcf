// What nmverify says of files: lines of text, or one JSON document ("nmb/verify/1"), written as it
// goes, so that any number of findings takes no memory.
#pragma once

#include <memory>
#include <string>

#include "common/output.h"
#include "nmb/verify.h"

namespace nmb::tools {

struct VerifyTotals {
  std::uint64_t files = 0;
  std::uint64_t sound = 0;
  std::uint64_t damaged = 0;
  std::uint64_t not_verified = 0;  // could not be read, or not as a whole
  std::uint64_t findings = 0;
  std::uint64_t warnings = 0;
  std::uint64_t bytes_read = 0;
};

// Calls come in the order begin, (begin_file, report and damaged_block, end_file) for each file,
// end. Failures to write stick to the output.
class VerifyReport : public Findings {
 public:
  virtual void begin(VerifyLevel level) = 0;
  virtual void begin_file(const std::string& file) = 0;
  virtual void damaged_block(const std::string& name) = 0;
  // What verify() returned.
  virtual void end_file(const Result<VerifySummary>& result) = 0;
  virtual void end(const VerifyTotals& totals) = 0;
};

std::string_view level_name(VerifyLevel level);

// strict: warnings are findings. quiet: no warnings but of a generation that may be missing
// (R-SB-13), and no summaries of sound files.
std::unique_ptr<VerifyReport> text_report(Output& out, bool quiet, bool strict);
std::unique_ptr<VerifyReport> json_report(Output& out, bool strict);

}  // namespace nmb::tools
