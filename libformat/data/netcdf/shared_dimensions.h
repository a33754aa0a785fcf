// Handles groups that share dimensions with groups above them, as in netCDF-4. Such a group is
// stored as a block of kind 6, but is a classic dataset in all other respects
// (spec/hdf5_section.md, property 12).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"
#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb {

// Returns for each dimension the number of levels from the block up to the group that defines it; 0
// if this is the block itself. The result is empty if the block is not of kind 6, or is not a
// classic dataset apart from its shared dimensions.
std::vector<std::uint32_t> levels_above(const Metadata& metadata);

// Returns whether the definitions belong to a classic dataset. This is so for kinds 1, 2 and 5, and
// for kind 6 if the block has property 12 and otherwise only what a classic dataset has. The values
// of a classic dataset of kind 6 may be stored in chunks.
NMB_EXPORT bool is_classic_dataset(const Metadata& metadata);
// Returns whether the definitions belong to a classic dataset whose values are stored as in a
// classic file: big-endian, without chunks.
NMB_EXPORT bool has_classic_values(const Metadata& metadata);
// Returns whether a dimension may grow.
NMB_EXPORT bool may_grow(const Metadata& metadata, DimId dimension);
// Returns the first dimension that may grow. Its length is the number of records of the block.
std::optional<DimId> first_growing(const Metadata& metadata);

// Returns the path, without the first '/', of a dimension that the group `levels` levels above a
// block defines; nullopt if the block has fewer groups above it.
std::optional<std::string> path_above(std::string_view block, std::uint32_t levels,
                                      std::string_view dimension);

// Returns the dataset, without its extension if has_classic_values() is true. The result keeps
// `dataset` alive.
std::shared_ptr<const Dataset> as_classic(std::shared_ptr<const Dataset> dataset);

// Returns `dataset` as an object that also keeps `of` alive: the extent of `dataset` may use the
// fill values in the metadata of `of`.
std::shared_ptr<const Dataset> dataset_keeping(std::shared_ptr<const Dataset> of, Dataset dataset);

// Returns the number of levels from `block` up to the group that defines the dimension at `path`; 0
// if this is the block itself or a group that is not above it. path: begins with '/'.
std::uint32_t levels_between(std::string_view block, std::string_view path);

// Converts a classic dataset to a block of kind 6 that takes some of its dimensions from groups
// above it. The values keep their positions in the extent. levels: for each dimension, the number
// of levels from the block up to the group that defines it; at least one must not be 0.
Dataset with_dimensions_above(const Dataset& dataset, const std::vector<std::uint32_t>& levels);

// Returns the property that marks a classic dataset of kind 6. levels: as for
// with_dimensions_above(), but all may be 0.
hdf5::Property dimensions_above(const std::vector<std::uint32_t>& levels);

}  // namespace nmb
