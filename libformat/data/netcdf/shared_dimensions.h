// Handles groups that share dimensions with groups above them, as in netCDF-4. A group that shares
// dimensions is stored as a block of kind 6. In all other respects, the group is a classic dataset
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

// Returns for each dimension the number of levels from the block up to the group that defines the
// dimension. 0 means that the block itself defines the dimension. The result is empty if the block
// is not of kind 6, or if it is not a classic dataset apart from its shared dimensions.
std::vector<std::uint32_t> levels_above(const Metadata& metadata);

// Returns whether the definitions belong to a classic dataset. Returns true for kinds 1, 2 and 5.
// For kind 6, returns true if the block has property 12 and only what a classic dataset has. The
// values of a classic dataset of kind 6 may be stored in chunks.
NMB_EXPORT bool is_classic_dataset(const Metadata& metadata);
// Returns whether a classic dataset stores its values like a classic file: big-endian, without
// chunks. Returns false for all other datasets.
NMB_EXPORT bool has_classic_values(const Metadata& metadata);
// Returns whether the length of a dimension can grow.
NMB_EXPORT bool may_grow(const Metadata& metadata, DimId dimension);
// Returns the first dimension that may grow (see may_grow()). The number of records of a block is
// its length.
std::optional<DimId> first_growing(const Metadata& metadata);

// Returns the path of a dimension, without the first '/'. The dimension is defined in the group
// that is `levels` levels above a block. Returns nullopt if the block has fewer than `levels`
// groups above it.
std::optional<std::string> path_above(std::string_view block, std::uint32_t levels,
                                      std::string_view dimension);

// Returns the dataset without its extension if has_classic_values() is true. If
// has_classic_values() is false, returns the dataset unchanged. The result keeps `dataset` alive.
std::shared_ptr<const Dataset> as_classic(std::shared_ptr<const Dataset> dataset);

// Returns `dataset` as an object that also keeps `of` alive. An extent uses the fill values of the
// metadata with which the extent was made. Therefore `of` must stay alive.
std::shared_ptr<const Dataset> dataset_keeping(std::shared_ptr<const Dataset> of, Dataset dataset);

// Returns the number of levels from `block` up to the group that defines the dimension with this
// path. Returns 0 if the dimension belongs to the block itself or to a group that is not above the
// block. path: begins with '/'.
std::uint32_t levels_between(std::string_view block, std::string_view path);

// Converts a classic dataset to a block of kind 6 that takes some of its dimensions from groups
// above it. The values keep their positions in the extent. levels: for each dimension, the number
// of levels from the block up to the group that defines it. At least one level must not be 0.
Dataset with_dimensions_above(const Dataset& dataset, const std::vector<std::uint32_t>& levels);

// Returns the property that marks a classic dataset of kind 6. `levels` has the same meaning as for
// with_dimensions_above(), but all levels may be 0.
hdf5::Property dimensions_above(const std::vector<std::uint32_t>& levels);

}  // namespace nmb
