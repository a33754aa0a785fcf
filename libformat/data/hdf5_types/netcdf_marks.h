// Reads the marks of a block that came from HDF5. Marks are attributes of netCDF and of HDF5
// dimension scales. They show which data set is a dimension, and which dimensions a data set has
// (HDF5 Dimension Scale Specification; "Interoperability with HDF5" of netCDF). A mark that does
// not have the form in which netCDF or HDF5 writes it is ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metadata.h"

namespace nmb {

inline constexpr std::string_view kDimensionId = "_Netcdf4Dimid",
                                  kCoordinates = "_Netcdf4Coordinates", kList = "DIMENSION_LIST",
                                  kReferenceList = "REFERENCE_LIST";
inline constexpr std::string_view kScaleClass = "CLASS", kScaleName = "NAME";
inline constexpr std::string_view kNotAVariable =
    "This is a netCDF dimension but not a netCDF variable";
// If a variable has the name of a dimension but is not its scale, the name of the variable's data
// set begins with this prefix.
inline constexpr std::string_view kNonCoordinate = "_nc4_non_coord_";
// An attribute of the root group: the file has only what a classic file can have.
inline constexpr std::string_view kClassicModel = "_nc3_strict";

// Returns whether a name has the form phony_dim_N, which netCDF gives to a dimension without a
// scale in an HDF5 file.
bool is_made_up(std::string_view dimension);

// Returns the text of an attribute that is a fixed-length string, up to the first NUL. This
// function and the functions below need metadata with an extension, unless they say otherwise.
std::string_view fixed_text(const Metadata& metadata, VarId owner, std::string_view name);
// Returns whether a variable is a dimension scale of HDF5.
bool is_dimension_scale(const Metadata& metadata, VarId variable);
// Returns whether a variable is a scale that netCDF shows only as a dimension. Returns false for
// metadata without an extension.
NMB_EXPORT bool is_dimension_only(const Metadata& metadata, VarId variable);
// Stores the numbers of dimensions, variables and attributes that the index has for a block.
// A scale that netCDF shows only as a dimension does not count as a variable.
NMB_EXPORT void count_objects(const Metadata& metadata, BlockCounts* counts);
// Returns the values of an attribute of four-byte integers, or no values if the attribute has
// another type.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name);
// Returns the values like the function above, but only if there are exactly `count` values.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name,
                                   std::size_t count);
// Returns whether an attribute has the type of DIMENSION_LIST.
bool is_list(const Metadata& metadata, const Attribute& a);
// Returns the paths of each dimension's first scales, at most `most` of a dimension.
std::vector<std::vector<std::string>> scale_lists(const Metadata& metadata, VarId variable,
                                                  std::size_t rank, std::uint64_t most);
// Returns the path of each dimension's first scale, or an empty path if a dimension has no scale.
std::vector<std::string> scale_paths(const Metadata& metadata, VarId variable, std::size_t rank);

}  // namespace nmb
