// ResumeProofs: finds conversions that a report proves to be done, so that --resume skips them.
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
  // Reads the records of these conversions: for each output, the last line counts.
  static Result<ResumeProofs> read(const ReportFile& report,
                                   const std::vector<Conversion>& conversions);

  // Returns the record of a conversion if the report says that it was done with the same options.
  std::optional<ConversionRecord> claimed(const Conversion& what) const;

 private:
  std::unordered_map<std::string, ConversionRecord> done_;  // by the output, as json_text
};

// Whether a record still describes the files.
enum class Proof : std::uint8_t {
  kHolds,     // nothing must be done
  kOutdated,  // the output is the one that was made, but the input has changed
  kNone,      // it is not known who made the output, or there is none
};

// A proof holds if the output still has its length and, if recorded, its SHA-256; and the input its
// length and time of modification or, if recorded, its SHA-256. The output is recognized by its
// SHA-256, or without it by its time of modification. `digest`: a record without SHA-256 does not
// hold. A file that cannot be read proves nothing, nor does an interrupted check.
Proof check_proof(const ConversionRecord& done, const Conversion& what, bool digest,
                  const std::atomic<bool>* cancel);

// false: check_proof() will not return kOutdated. Reads no bytes.
bool may_be_outdated(const ConversionRecord& done, const Conversion& what, bool digest);

}  // namespace nmb::tools
