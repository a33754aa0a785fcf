// What SampleRule counts of a block, and how many samples that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nmb/dataset.h"
#include "nmb/merge.h"
#include "nmb/metadata.h"
#include "nmb/netcdf_view.h"
#include "nmb/status.h"

namespace nmb {

struct SampleCounts {
  std::uint64_t variables = 0;
  std::optional<std::uint64_t> length;  // of the rule's dimension, if the block has it
};
SampleCounts counts_of(const SampleRule& rule, const Metadata& metadata, std::uint64_t records);
// Of a block from HDF5 as netCDF shows it, with the dimensions that are its own. lengths: as for
// netcdf_view().
SampleCounts counts_of(const SampleRule& rule, const Dataset& dataset,
                       const DimensionLengths* lengths);
// Samples of a block with these; `group`: its path in its input, "" for the root. kConflict: the
// variables leave a remainder.
Result<std::uint64_t> count_samples(const SampleRule& rule, const SampleCounts& counts,
                                    std::string_view group);

}  // namespace nmb
