// ConversionNotes: what a conversion says of what the output will not have, and whether it goes on.
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
  // Both outlive this.
  ConversionNotes(const ConversionOptions& options, ConversionRecord* record)
      : options_(options), record_(*record) {}

  // Of the input.
  void warn(const std::string& text) { record_.warnings.push_back(record_.of.input + ": " + text); }
  Status warn_of_tags(const Result<TagCounts>& counts);
  Status warn_of_what_stays(const Reader& reader);
  // kConflict: warnings, with --strict.
  Status check_warnings() const;

  // Notes what the output will not have. kConflict without --lossy.
  Status accept_losses(const std::vector<Loss>& losses, const std::string& target);
  // The same of an HDF5 output, and what it will have otherwise. kConflict: a warning, too, where
  // none is allowed.
  Status accept_losses(const Hdf5Losses& lost);

  // Takes warnings and conflicts out of it.
  void take_report(PackReport* report);
  // Of an NMB output. status: that of making it.
  Status take_losses(const PackReport& report, const Status& status);

 private:
  Status refused_losses(const std::string& target) const;

  const ConversionOptions& options_;
  ConversionRecord& record_;
};

}  // namespace nmb::tools
