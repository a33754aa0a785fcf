// Decomposition: the part of a dimension that one file of a model's output has. The attribute
// domain_decomposition of the dimension's coordinate variable states the decomposition (FMS,
// mppnccombine). The attribute has four integers: the first and last index of the whole dimension,
// and the first and last index of the part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/metadata.h"

namespace nmb {

inline constexpr std::string_view kDecompositionAttribute = "domain_decomposition";

struct Decomposition {
  std::uint64_t length = 0;            // length of the whole dimension
  std::uint64_t first = 0, count = 0;  // the part; `first` counts from 0
  // If not empty: the invalid value of the attribute, and the expected value.
  std::string found{}, expected{};
};

// Returns the decomposition of a dimension, or nullopt if no such attribute describes the
// dimension. records: number of records in the block.
std::optional<Decomposition> decomposition_of(const Metadata& metadata, DimId dimension,
                                              std::uint64_t records);
bool has_decomposition(const Metadata& metadata);
// Returns whether the dataset has icebergs of a model. Icebergs move from one process to another,
// so the files of a set are joined along the records.
bool is_iceberg(const Metadata& metadata);
// Returns whether a global attribute marks the dataset as a file of icebergs. Unlike is_iceberg(),
// this function also works for a block from HDF5, which has no record dimension yet.
bool has_version_of_icebergs(const Metadata& metadata);
// Returns the value of the attribute NumFilesInSet, which is the number of files in the file's set.
// Returns nullopt if there is no such attribute, and -1 if its value is not a number of files.
std::optional<std::int64_t> files_in_set(const Metadata& metadata);
// Returns a variable that lists the grid points in the file, if the file uses "compression by
// gathering" (CF conventions, section 8.2).
std::optional<VarId> gathered_variable(const Metadata& metadata);
// Returns whether an attribute describes the relation between one file and the set of files to
// which it belongs. of_block: true for a global attribute, false for an attribute of a coordinate.
bool tells_part(bool of_block, std::string_view attribute);

}  // namespace nmb
