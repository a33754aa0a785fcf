// PlannedContent: the definitions that a merge would give its output.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "merge/reporting/merge.h"
#include "wire/failure.h"

namespace nmb {

// What the root block of a file says about how the file was made.
struct RecordedHistory {
  std::string text{};                    // the attribute `history`
  std::string line{};                    // its first line, if nmcat or nmconvert wrote it
  std::vector<std::string> variables{};  // names of the variables; only with `line`
};
// Errors: those of reading the file.
NMB_EXPORT Result<RecordedHistory> recorded_history(const ContentFile& merged);

class PlannedContent {
 public:
  // Plans the merge as a dry run. merged: the file that the merge has written. is_hdf5: whether it
  // is an HDF5 file. Errors: those of pack() and of reading the file.
  static Result<PlannedContent> of(const PackOptions& merge, const ContentFile& merged,
                                   bool is_hdf5, PackReport* report);

  // The result refers to this object. Values must not be read.
  ContentFile content() const;

 private:
  Status add_history(const ContentFile& merged);
  Status choose_form(const ContentFile& merged, const PackReport& report);

  std::optional<PlannedHdf5> form_;
  // Not shared: content() refers to it.
  std::map<std::string, std::shared_ptr<const Dataset>, std::less<>> blocks_;
};

}  // namespace nmb
