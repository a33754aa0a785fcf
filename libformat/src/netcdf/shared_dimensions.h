// Groups whose dimensions are partly those of groups above them, as netCDF-4 has them: blocks of
// kind 6 that are classic datasets but for that (spec/hdf5_section.md, property 12).
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

// By dimension how many groups above the block's the one is that has it; 0: the block itself.
// Empty: the block is no such dataset.
std::vector<std::uint32_t> levels_above(const Metadata& metadata);

// Whether the definitions are those of a classic dataset: all of kinds 1, 2 and 5, and of kind 6
// those that levels_above() tells of.
NMB_EXPORT bool is_classic_dataset(const Metadata& metadata);

// The path of a dimension so many groups above a block, without the first '/'; nullopt: there are
// not as many.
std::optional<std::string> path_above(std::string_view block, std::uint32_t levels,
                                      std::string_view dimension);

// The same dataset without the extension, if is_classic_dataset(); it keeps the other.
std::shared_ptr<const Dataset> as_classic(std::shared_ptr<const Dataset> dataset);

// How many groups above `block` the group is that has the dimension of a path, with the first '/';
// 0: the block itself, or none above it.
std::uint32_t levels_between(std::string_view block, std::string_view path);

// A classic dataset as a block of kind 6 some of whose dimensions are those of groups above. The
// values stay where they are in the extent. levels: by dimension, not all 0.
Dataset with_dimensions_above(const Dataset& dataset, const std::vector<std::uint32_t>& levels);

}  // namespace nmb
