// ConversionReport: writes a line or a document for each conversion.
#pragma once

#include <optional>

#include "common/command_line/tool.h"
#include "common/printing/table.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class ConversionReport {
 public:
  // If `digests` is true, lines have columns for digests.
  ConversionReport(Tool& tool, bool digests);

  // Writes the record to standard output: with --json as a JSON document, with --jsonl as one line
  // of JSON, otherwise as a line of columns. If standard output cannot be written, this is reported
  // when the tool ends.
  void tell(const ConversionRecord& record);
  // Writes warnings, losses, conflicts and, if `failure` is true, the failure to standard error.
  // The messages determine the exit code.
  void diagnose(const ConversionRecord& record, bool failure);
  // Writes the rows that are still in memory.
  void finish();

 private:
  Tool& tool_;
  const bool digests_;
  std::optional<Table> table_;
  bool noted_view_ = false;  // whether a note about a view was shown
};

}  // namespace nmb::tools
