// ConversionRecord: the result of one conversion, for messages and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/printing/json_document.h"
#include "wire/failure.h"

namespace nmb::tools {

inline constexpr const char* kConversionSchema = "convert";

// The input and output of a conversion.
struct Conversion {
  std::string input, output;
  std::string to;  // kind of the output, as for --to; "" means the kind of the block
  std::optional<std::string> block;  // for an NMB input: the only block to convert
  std::string block_by =
      {};  // rule for making blocks (PackOptions); "" means the blocks of the input
  std::string statistics = "none";  // for an NMB output: none, basic or histogram
  std::string options = {};  // other options that determine the output, as the user gave them
};

struct ConversionRecord {
  enum class Outcome : std::uint8_t {
    kDone,
    kSkipped,      // a report proves that the conversion was done before
    kFailed,       // `status` has the reason
    kInterrupted,  // stopped before its end; nothing was written
  };

  Conversion of;
  Outcome outcome = Outcome::kFailed;
  Status status;
  std::vector<std::string> warnings;
  std::vector<std::string> not_written;  // warnings about content that the output lacks
  std::vector<std::string>
      losses;  // content that the target cannot hold, with the names of objects
  std::vector<std::string> conflicts;    // reasons why blocks cannot be made as requested
  std::uint64_t without_statistics = 0;  // number of variables whose values were not counted
  std::uint64_t originals = 0;           // number of files that the output stores whole
  std::uint64_t digested = 0;            // number of classic files whose digests are recorded
  std::uint64_t without_original = 0;    // number of HDF5 files that the output does not
                                         // store whole
  std::uint64_t original_bytes = 0, stored_twice = 0;  // as in PackReport
  std::uint64_t outside = 0;                           // PackReport::outside
  std::string view_note;                               // PackReport::view_note
  bool has_large_view = false;                         // PackReport::has_large_view
  std::string kind_note;  // why the output's kind is not that of its blocks; else empty
  std::optional<std::uint64_t> bytes_in, bytes_out;
  std::optional<std::int64_t> modified_in, modified_out;  // ns since 1970
  double seconds = 0;
  std::string sha256_in, sha256_out;  // empty: not requested
};

// Returns "done", "skipped", "failed" or "interrupted".
std::string_view outcome_word(ConversionRecord::Outcome outcome);

// Returns the record as JSON for messages and reports. The JSON always has the same keys in the
// same order, with null for unknown values.
Json record_json(const ConversionRecord& record);

// Returns the record as a message for another rank. The bytes of names are unchanged.
std::vector<std::uint8_t> record_message(const ConversionRecord& record);
Result<ConversionRecord> record_from(const std::vector<std::uint8_t>& message);

// Parses a line of a report. Returns nullopt if the line does not say that a conversion was done.
// Names in the record have the form of json_text(), and must be compared in this form.
std::optional<ConversionRecord> done_record(std::string_view line);

}  // namespace nmb::tools
