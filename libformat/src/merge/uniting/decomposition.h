// Decomposition: the part of a dimension that a file of a model's output has, as the attribute
// domain_decomposition of the dimension's coordinate tells it (FMS, mppnccombine): first and last
// index of the whole, then of the part, both with their ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/metadata.h"

namespace nmb {

inline constexpr std::string_view kDecomposition = "domain_decomposition";

struct Decomposition {
  std::uint64_t length = 0;            // of the whole
  std::uint64_t first = 0, count = 0;  // of the part; `first` counts from 0
  // Not empty: what was found that cannot be one, and what was expected.
  std::string found{}, expected{};
};

// nullopt: the dimension has no such attribute. records: of the block.
std::optional<Decomposition> decomposition_of(const Metadata& metadata, DimId dimension,
                                              std::uint64_t records);
bool has_decomposition(const Metadata& metadata);
// Whether it is one of a set whose values follow one another along the records: of a model's
// icebergs, which wander between its processes.
bool is_iceberg(const Metadata& metadata);
// Whether it says so; a block that came from HDF5 has no record dimension yet.
bool has_version_of_icebergs(const Metadata& metadata);
// How many files the set has of which it is a part, as its attribute NumFilesInSet says; nullopt:
// it says nothing; -1: no number of files.
std::optional<std::int64_t> files_in_set(const Metadata& metadata);
// A variable that lists the points it has of a grid, "compression by gathering" (CF conventions,
// section 8.2).
std::optional<VarId> gathered_variable(const Metadata& metadata);
// Attributes that say which part of a set a file is; of the block, or of a coordinate.
bool tells_part(bool of_block, std::string_view attribute);

}  // namespace nmb
