// PlannedContent: the definitions that a merge would give its output.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "merge/reporting/merge.h"
#include "wire/failure.h"

namespace nmb {

// What the root block of a file says about how the file was made.
struct RecordedHistory {
  std::string line{};  // the line that nmcat or nmconvert has put before the attribute `history`
  std::vector<std::string> variables{};  // names of the variables; only with `line`
};
// Errors: those of reading the file.
NMB_EXPORT Result<RecordedHistory> recorded_history(const ContentFile& merged);

class PlannedContent {
 public:
  // Plans the merge as a dry run. Errors: those of pack().
  static Result<PlannedContent> of(const PackOptions& merge, PackReport* report);

  // The result refers to this object. Values must not be read.
  ContentFile content() const;

 private:
  // Not shared: content() refers to it.
  std::map<std::string, std::shared_ptr<const Dataset>, std::less<>> blocks_;
};

}  // namespace nmb
