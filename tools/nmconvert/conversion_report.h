// ConversionReport: writes a line or a document for each conversion.
#pragma once

#include <optional>

#include "common/table.h"
#include "common/tool.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class ConversionReport {
 public:
  // digests: lines have columns for them.
  ConversionReport(Tool& tool, bool digests);

  // Writes to standard output: a document with --json, a document on one line with --jsonl,
  // otherwise a line of columns. A failure to write is reported when the tool ends.
  void tell(const ConversionRecord& record);
  // Writes warnings, losses (one by one if the conversion failed because of them, otherwise their
  // number), conflicts and, if `failure`, the failure to standard error. They determine the exit
  // code.
  void diagnose(const ConversionRecord& record, bool failure);
  // Writes the rows that are still in memory.
  void finish();

 private:
  void diagnose_losses(const ConversionRecord& record);

  Tool& tool_;
  const bool digests_;
  std::optional<Table> table_;
};

}  // namespace nmb::tools
