// ConversionNotes: collects the warnings and losses of a conversion, and decides whether the
// conversion continues.
#pragma once

#include <string>
#include <vector>

#include "convert/convert.h"
#include "merge/reporting/merge.h"
#include "netcdf/netcdf_view.h"
#include "nmconvert/conversion.h"
#include "nmconvert/conversion_record.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::tools {

class ConversionNotes {
 public:
  // `options` and *record must outlive this object.
  ConversionNotes(const ConversionOptions& options, ConversionRecord* record)
      : options_(options), record_(*record) {}

  void warn(const std::string& text) { record_.warnings.push_back(record_.of.input + ": " + text); }
  // Adds a warning about content that the output lacks.
  void lose(const std::string& text) {
    record_.not_written.push_back(record_.of.input + ": " + text);
  }
  Status warn_of_tags(const Result<TagCounts>& counts);
  Status warn_of_what_stays(const FileReader& reader);
  // Errors: kConflict if --strict is given and the conversion has warnings, or losses that --lossy
  // accepts.
  Status check_warnings() const;

  // Records content that the output will not have. Errors: kConflict if content is lost and --lossy
  // is not given; those of check_warnings().
  Status accept_losses(const std::vector<Loss>& losses, const std::string& target);
  // Records content that an HDF5 output will not have, and adds a warning for content that the
  // output will have in another form. Errors: kConflict if content is lost and --lossy is not
  // given, or if there is a warning and --strict is given.
  Status accept_losses(const Hdf5Losses& lost);

  // Moves warnings, damaged chunks and conflicts from *report to the record.
  void take_report(PackReport* report);
  // Records the losses of an NMB output. `status` is the result of pack(). Returns the status of
  // the conversion.
  Status take_losses(const PackReport& report, const Status& status);

 private:
  Status refused_losses(const std::string& target) const;

  const ConversionOptions& options_;
  ConversionRecord& record_;
};

}  // namespace nmb::tools
