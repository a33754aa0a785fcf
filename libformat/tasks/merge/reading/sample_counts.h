// Counts the objects of a block that a SampleRule uses, and computes the block's number of samples
// from these counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "merge/reporting/merge.h"
#include "model/dataset.h"
#include "model/metadata.h"
#include "netcdf/netcdf_view.h"
#include "wire/failure.h"

namespace nmb {

struct SampleCounts {
  std::uint64_t variables = 0;
  std::optional<std::uint64_t> length;  // length of the rule's dimension, if the block has it
};
SampleCounts counts_of(const SampleRule& rule, const Metadata& metadata, std::uint64_t records);
// Counts the objects that netCDF shows in a block from HDF5. A dimension counts only if the block
// itself defines it. lengths: as for netcdf_view().
SampleCounts counts_of(const SampleRule& rule, const Dataset& dataset,
                       const DimensionLengths* lengths);
// Returns the number of samples in a block with these counts. group: the block's path in its input,
// "" for the root. Errors: kConflict if the number of variables cannot be divided evenly.
Result<std::uint64_t> count_samples(const SampleRule& rule, const SampleCounts& counts,
                                    std::string_view group);

}  // namespace nmb
