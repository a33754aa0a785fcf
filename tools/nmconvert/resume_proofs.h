// ResumeProofs: which conversions a report proves done, so that --resume leaves them out.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/report_file.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class ResumeProofs {
 public:
  // What the report says of these conversions: the last line for each output counts.
  static Result<ResumeProofs> read(const ReportFile& report,
                                   const std::vector<Conversion>& conversions);

  // The record of a conversion that the report says was done as it is asked for now.
  std::optional<ConversionRecord> claimed(const Conversion& what) const;

 private:
  std::unordered_map<std::string, ConversionRecord> done_;  // by the output, as json_text
};

// Whether what the record says of a conversion is still so: the output is there with the length
// and, where the record has it, the SHA-256 of then; the input has the length and time of
// modification of then or, where the record has it, the SHA-256. `digest`: a record without SHA-256
// proves nothing. What cannot be read proves nothing, nor does an interrupted look.
bool proof_holds(const ConversionRecord& done, const Conversion& what, bool digest,
                 const std::atomic<bool>* cancel);

}  // namespace nmb::tools
