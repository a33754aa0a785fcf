// ConversionNotes: collects the warnings and losses of a conversion, and decides whether the
// conversion continues.
#pragma once

#include <string>
#include <vector>

#include "nmb/convert.h"
#include "nmb/merge.h"
#include "nmb/netcdf_view.h"
#include "nmb/reader.h"
#include "nmb/status.h"
#include "nmconvert/conversion.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

class ConversionNotes {
 public:
  // `options` and *record must outlive this object.
  ConversionNotes(const ConversionOptions& options, ConversionRecord* record)
      : options_(options), record_(*record) {}

  // Adds a warning about the input.
  void warn(const std::string& text) { record_.warnings.push_back(record_.of.input + ": " + text); }
  Status warn_of_tags(const Result<TagCounts>& counts);
  Status warn_of_what_stays(const Reader& reader);
  // Errors: kConflict if there are warnings, with --strict.
  Status check_warnings() const;

  // Records content that the output will not have. Errors: kConflict without --lossy.
  Status accept_losses(const std::vector<Loss>& losses, const std::string& target);
  // Records content that an HDF5 output will not have, and warns about content that it will have in
  // another form. Errors: kConflict for a loss without --lossy, or for a warning with --strict.
  Status accept_losses(const Hdf5Losses& lost);

  // Moves warnings and conflicts out of *report.
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
