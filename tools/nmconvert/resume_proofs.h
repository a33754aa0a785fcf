// ResumeProofs: finds conversions that a report proves to be done, so that --resume skips them.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/printing/report_file.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class ResumeProofs {
 public:
  // Reads the records of `conversions` from the report. If several lines report that the same
  // output was made, only the last one is used.
  static Result<ResumeProofs> read(const ReportFile& report,
                                   const std::vector<Conversion>& conversions);

  // Returns the record of a conversion if the report says that it was done with the same options,
  // otherwise nullopt.
  std::optional<ConversionRecord> claimed(const Conversion& what) const;

 private:
  std::unordered_map<std::string, ConversionRecord>
      done_;  // the key is the name of the output, in the form of json_text()
};

// The result of comparing a record with the files.
enum class Proof : std::uint8_t {
  kHolds,     // the conversion need not be done again
  kOutdated,  // the output is unchanged, but the input or --digest has changed
  kNone,      // the output is missing, or may have another origin
};

// Compares a record with the files. The output is unchanged if it has the recorded length, and the
// recorded SHA-256 if there is one. The input is unchanged if it has the recorded length, and
// either the recorded modification time or the recorded SHA-256.
//
// kHolds: both files are unchanged. If `digest` is true, the record must have the SHA-256 of both
// files. If `digest` is false and the output has originals, the record must have no SHA-256,
// because such an output also has the SHA-256 of its originals. kHolds is not returned if a file
// cannot be read or the check is interrupted.
//
// kOutdated: the output is unchanged, but kHolds does not apply. Without a recorded SHA-256, the
// output must also have the recorded modification time.
Proof check_proof(const ConversionRecord& done, const Conversion& what, bool digest,
                  const std::atomic<bool>* cancel);

// Returns false if check_proof() cannot return kOutdated for these arguments. Does not read the
// contents of the files.
bool may_be_outdated(const ConversionRecord& done, const Conversion& what, bool digest);

}  // namespace nmb::tools
