// RecordedMerge: how a file was merged, as its provenance or its attribute `history` records it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/options/merge_rules.h"
#include "common/options/subset_option.h"
#include "handles/inspected_file.h"
#include "merge/reporting/merge.h"
#include "wire/failure.h"

namespace nmb::tools {

// The names of options, without "--", and their values; an option without a value has the value
// "true".
using RecordedOptions = std::vector<std::pair<std::string, std::string>>;

// Returns the options of the run of nmcat, or of nmconvert --one-file-per-variable, that made a
// file; empty unless exactly one run is recorded. Errors: those of reading the file.
Result<RecordedOptions> recorded_options(const InspectedFile& file);

// The options that say how files are merged, given as text. Not copyable: `rules` refers to
// `options`.
class RecordedMerge {
 public:
  RecordedMerge() : rules_(&options_) {}
  RecordedMerge(const RecordedMerge&) = delete;
  RecordedMerge& operator=(const RecordedMerge&) = delete;

  // Errors: kUnsupported if the options divide or choose blocks; kUsage for wrong options.
  Status take(const RecordedOptions& recorded, const std::string& file);
  PackOptions& options() { return options_; }

 private:
  PackOptions options_;
  MergeRules rules_;
  SubsetTexts subset_;
};

}  // namespace nmb::tools
