// ConversionRecord: what became of one conversion, as it stands in reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_document.h"
#include "nmb/status.h"

namespace nmb::tools {

inline constexpr const char* kConversionSchema = "convert";

// What is to be converted, and to what.
struct Conversion {
  std::string input, output;
  std::string to;                    // nmb, cdf1, cdf2 or cdf5; "": the classic kind of the block
  std::optional<std::string> block;  // of an NMB input, the one to take out
  std::string block_by = {};         // what becomes a block (PackOptions); "": as in the input
  std::string statistics = "none";   // of an NMB output: none, basic or histogram
  std::string options = {};          // others that decide what the output is, as they were given
};

struct ConversionRecord {
  enum class Outcome : std::uint8_t {
    kDone,
    kSkipped,      // a report proves that it was done before
    kFailed,       // `status` says why
    kInterrupted,  // begun and given up, nothing was written
  };

  Conversion of;
  Outcome outcome = Outcome::kFailed;
  Status status;
  std::vector<std::string> warnings;
  std::vector<std::string> losses;       // what the target cannot hold, each with its object
  std::vector<std::string> conflicts;    // why blocks cannot be made as asked for
  std::uint64_t without_statistics = 0;  // variables whose values were not counted
  std::optional<std::uint64_t> bytes_in, bytes_out;
  std::optional<std::int64_t> modified_in, modified_out;  // ns since 1970
  double seconds = 0;
  std::string sha256_in, sha256_out;  // empty: not asked for
};

// "done", "skipped", "failed", "interrupted".
std::string_view outcome_word(ConversionRecord::Outcome outcome);

// As it is told and reported: always the same keys in the same order, null for what is not known.
Json record_json(const ConversionRecord& record);

// As it is sent to another process; names stay the bytes that they are.
std::vector<std::uint8_t> record_message(const ConversionRecord& record);
Result<ConversionRecord> record_from(const std::vector<std::uint8_t>& message);

// A line of a report that says that a conversion was done; nullopt: any other line. Names are as
// json_text has them, which is what they are to be compared with.
std::optional<ConversionRecord> done_record(std::string_view line);

}  // namespace nmb::tools
