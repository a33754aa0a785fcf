// Groups that share dimensions with groups above them, as in netCDF-4: blocks of kind 6 that are
// classic datasets except for these dimensions (spec/hdf5_section.md, property 12).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

// Returns, for each dimension, how many levels above the block the group is that defines it; 0: the
// block itself. Empty: the block has no such dimensions or is not classic otherwise.
std::vector<std::uint32_t> levels_above(const Metadata& metadata);

// Returns whether the definitions are those of a classic dataset: always for kinds 1, 2 and 5, and
// for blocks of kind 6 for which levels_above() is not empty.
NMB_EXPORT bool is_classic_dataset(const Metadata& metadata);

// Returns the path, without the first '/', of a dimension that is defined `levels` above a block;
// nullopt: the block has fewer groups above it.
std::optional<std::string> path_above(std::string_view block, std::uint32_t levels,
                                      std::string_view dimension);

// Returns the same dataset without the extension if is_classic_dataset(); the result keeps
// `dataset`.
std::shared_ptr<const Dataset> as_classic(std::shared_ptr<const Dataset> dataset);

// Returns a dataset that keeps `of`, because an extent reads fill values of the metadata it was
// made with where nothing was written.
std::shared_ptr<const Dataset> dataset_keeping(std::shared_ptr<const Dataset> of, Dataset dataset);

// Returns how many levels above `block` the group is that defines the dimension of a path, which
// begins with '/'; 0: the block itself or no group above it.
std::uint32_t levels_between(std::string_view block, std::string_view path);

// Returns a classic dataset as a block of kind 6 that takes some of its dimensions from groups
// above. The values keep their places in the extent. levels: by dimension, not all 0.
Dataset with_dimensions_above(const Dataset& dataset, const std::vector<std::uint32_t>& levels);

}  // namespace nmb
