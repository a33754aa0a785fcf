// Decomposition: which part of a dimension a file of a model's output has. The attribute
// domain_decomposition of the dimension's coordinate states it (FMS, mppnccombine): first and last
// index of the whole dimension, then of the part, inclusive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/metadata.h"

namespace nmb {

inline constexpr std::string_view kDecompositionAttribute = "domain_decomposition";

struct Decomposition {
  std::uint64_t length = 0;            // of the whole dimension
  std::uint64_t first = 0, count = 0;  // of the part; `first` counts from 0
  // If not empty: an invalid value, and what was expected instead.
  std::string found{}, expected{};
};

// nullopt: the dimension has no such attribute. records: of the block.
std::optional<Decomposition> decomposition_of(const Metadata& metadata, DimId dimension,
                                              std::uint64_t records);
bool has_decomposition(const Metadata& metadata);
// Returns whether the dataset belongs to a set that is joined along the records: a model's
// icebergs, which move from one process to another.
bool is_iceberg(const Metadata& metadata);
// Returns whether an attribute says so; a block that came from HDF5 has no record dimension yet.
bool has_version_of_icebergs(const Metadata& metadata);
// Returns the number of files in the set to which the file belongs, from its attribute
// NumFilesInSet; nullopt: there is no such attribute; -1: it is not a number of files.
std::optional<std::int64_t> files_in_set(const Metadata& metadata);
// Returns a variable that lists the points of a grid that the file has, "compression by gathering"
// (CF conventions, section 8.2).
std::optional<VarId> gathered_variable(const Metadata& metadata);
// Returns whether an attribute, of the block or of a coordinate, tells which part of a set the file
// is.
bool tells_part(bool of_block, std::string_view attribute);

}  // namespace nmb
