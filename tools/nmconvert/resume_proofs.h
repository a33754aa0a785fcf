// ResumeProofs: which conversions a report proves done, so that --resume leaves them out.
#pragma once

#include <atomic>
#include <cstdint>
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

  // The record of a conversion that the report says was done as this call asks for it.
  std::optional<ConversionRecord> claimed(const Conversion& what) const;

 private:
  std::unordered_map<std::string, ConversionRecord> done_;  // by the output, as json_text
};

// What a record says of a conversion, and what is so now.
enum class Proof : std::uint8_t {
  kHolds,     // nothing is to be done
  kOutdated,  // the output is the one that was made then, but not of the input that there is now
  kNone,      // whose the output is, if there is one, is not known
};

// Holds: the output has the length and, where the record has it, the SHA-256 of then; the input the
// length and time of modification of then or, where the record has it, the SHA-256. The output is
// known again by its SHA-256 or, without it, its time of modification. `digest`: a record without
// SHA-256 does not hold. What cannot be read proves nothing, nor does an interrupted look.
Proof check_proof(const ConversionRecord& done, const Conversion& what, bool digest,
                  const std::atomic<bool>* cancel);

// false: check_proof() will not find kOutdated. Reads no bytes.
bool may_be_outdated(const ConversionRecord& done, const Conversion& what, bool digest);

}  // namespace nmb::tools
