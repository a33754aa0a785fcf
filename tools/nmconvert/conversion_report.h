// ConversionReport: what nmconvert says of conversions, a line or a document for each.
#pragma once

#include <cstdint>
#include <optional>

#include "common/table.h"
#include "common/tool.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class ConversionReport {
 public:
  // digests: lines have columns for them.
  ConversionReport(Tool& tool, bool digests);

  // On standard output: with --json a document, with --jsonl a document a line, else a line of
  // columns. A failure to write is told when the tool ends.
  void tell(const ConversionRecord& record);
  // Warnings, losses (each where they are why it failed, else their number), conflicts, and the
  // failure if `failure` says so, on standard error; they make the exit code.
  void diagnose(const ConversionRecord& record, bool failure);
  // What is held back.
  void finish();

 private:
  void diagnose_losses(const ConversionRecord& record);

  Tool& tool_;
  const bool digests_;
  std::optional<Table> table_;
};

}  // namespace nmb::tools
