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
  // Reads the records of `conversions` from the report. If several lines report that the same
  // output was made, only the last of these lines is used.
  static Result<ResumeProofs> read(const ReportFile& report,
                                   const std::vector<Conversion>& conversions);

  // Returns the record of a conversion if, according to the report, this conversion was done with
  // the same options; otherwise returns nullopt.
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

// Compares a record with the files. The proof holds if neither file has changed. The output is
// unchanged if it has the recorded length and, if the record has a SHA-256, this SHA-256. The input
// is unchanged if it has the recorded length and the recorded modification time. If the
// modification time differs, the input still counts as unchanged if its length and its SHA-256 are
// the recorded ones. kOutdated is returned only if the output has the recorded SHA-256 or, if the
// record has no SHA-256, the recorded modification time. If `digest` is true, kHolds is returned
// only if the record has the SHA-256 of both files. If `digest` is false, kHolds is not returned
// for a record that has a SHA-256 and an output that has originals: such an output also has the
// SHA-256 of its originals. If a file cannot be read or the check is interrupted, kHolds is not
// returned.
Proof check_proof(const ConversionRecord& done, const Conversion& what, bool digest,
                  const std::atomic<bool>* cancel);

// Returns false if check_proof() cannot return kOutdated for these arguments. Does not read the
// contents of the files.
bool may_be_outdated(const ConversionRecord& done, const Conversion& what, bool digest);

}  // namespace nmb::tools
