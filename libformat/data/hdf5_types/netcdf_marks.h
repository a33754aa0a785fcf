// Reads the marks of a block that came from HDF5. Marks are attributes that netCDF and HDF5
// dimension scales leave in a file. Marks show which data set is a dimension, and which dimensions
// a data set has (HDF5 Dimension Scale Specification; "Interoperability with HDF5" of netCDF). A
// mark is ignored if it does not have the form in which netCDF or HDF5 writes it.
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
// A variable may have the name of a dimension without being the scale of this dimension. The name
// of its data set then begins with this prefix.
inline constexpr std::string_view kNonCoordinate = "_nc4_non_coord_";

// Returns whether a name has the form phony_dim_N. NetCDF gives such a name to a dimension of an
// HDF5 file if the dimension has no scale.
bool is_made_up(std::string_view dimension);

// For an attribute that is a fixed-length string, returns its text up to the first NUL. This
// function and all functions below need metadata with an extension, unless they say otherwise.
std::string_view fixed_text(const Metadata& metadata, VarId owner, std::string_view name);
// Returns whether a variable is a dimension scale of HDF5.
bool is_dimension_scale(const Metadata& metadata, VarId variable);
// Returns whether a variable is a scale that netCDF shows only as a dimension. Returns false for
// metadata without an extension.
bool is_scale_alone(const Metadata& metadata, VarId variable);
// Returns the values of an attribute of four-byte integers, or no values if the attribute has
// another type.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name);
// Returns the values like the function above, but only if there are exactly `count` values.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name,
                                   std::size_t count);
// Returns whether an attribute has the type of DIMENSION_LIST.
bool is_list(const Metadata& metadata, const Attribute& a);
// Returns the path of each dimension's first scale. The path is empty for a dimension without a
// scale.
std::vector<std::string> scale_paths(const Metadata& metadata, VarId variable, std::size_t rank);

}  // namespace nmb
