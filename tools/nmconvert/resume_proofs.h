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
  // Reads the records of `conversions` from the report. For each output, the last line counts.
  static Result<ResumeProofs> read(const ReportFile& report,
                                   const std::vector<Conversion>& conversions);

  // Returns the record of a conversion if the report says that it was done with the same options,
  // otherwise nullopt.
  std::optional<ConversionRecord> claimed(const Conversion& what) const;

 private:
  std::unordered_map<std::string, ConversionRecord>
      done_;  // by the name of the output, in the form of json_text()
};

// The result of comparing a record with the files.
enum class Proof : std::uint8_t {
  kHolds,     // the conversion need not be done again
  kOutdated,  // the output is unchanged, but the input has changed
  kNone,      // the output is missing, or may have another origin
};

// Compares a record with the files. The proof holds if neither file has changed. The output is
// unchanged if it has the recorded length and, if recorded, the SHA-256. The input is unchanged if
// it has the recorded length and modification time; the recorded SHA-256 may replace the time. For
// kOutdated, the output is recognized by its SHA-256 or, if none is recorded, by its modification
// time. If `digest` is true, a record without SHA-256 does not hold. A file that cannot be read
// proves nothing, and an interrupted check proves nothing.
Proof check_proof(const ConversionRecord& done, const Conversion& what, bool digest,
                  const std::atomic<bool>* cancel);

// Returns false if check_proof() will not return kOutdated. Reads no bytes of the files.
bool may_be_outdated(const ConversionRecord& done, const Conversion& what, bool digest);

}  // namespace nmb::tools
