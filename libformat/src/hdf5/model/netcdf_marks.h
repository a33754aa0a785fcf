// The marks that netCDF and HDF5's dimension scales leave in a block that came from HDF5: they show
// which data set is a dimension and which dimensions a data set has (HDF5 Dimension Scale
// Specification; "Interoperability with HDF5" of netCDF). Marks in any other form than these
// libraries write are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/metadata.h"

namespace nmb {

inline constexpr std::string_view kDimensionId = "_Netcdf4Dimid",
                                  kCoordinates = "_Netcdf4Coordinates", kList = "DIMENSION_LIST";
inline constexpr std::string_view kNotAVariable =
    "This is a netCDF dimension but not a netCDF variable";
// The prefix of the name of a variable that has the name of a dimension but is not its scale.
inline constexpr std::string_view kNonCoordinate = "_nc4_non_coord_";

// Returns whether the name has the form phony_dim_N, under which netCDF shows a dimension of an
// HDF5 file that has no scale.
bool is_made_up(std::string_view dimension);

// The functions below take metadata with an extension. This one returns the text of a string of
// fixed length, up to the first NUL.
std::string_view fixed_text(const Metadata& metadata, VarId owner, std::string_view name);
// Returns whether a variable is a dimension scale of HDF5.
bool is_dimension_scale(const Metadata& metadata, VarId variable);
// Returns whether it is a scale for which netCDF shows no variable; false for metadata without an
// extension.
bool is_scale_alone(const Metadata& metadata, VarId variable);
// Returns the integers of an attribute, of four bytes each; empty if the attribute has another
// type.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name);
// The same, if the attribute has `count` integers.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name,
                                   std::size_t count);
// Returns whether an attribute has the type of DIMENSION_LIST.
bool is_list(const Metadata& metadata, const Attribute& a);
// Returns the paths of the first scale of each dimension; empty: the dimension has none.
std::vector<std::string> scale_paths(const Metadata& metadata, VarId variable, std::size_t rank);

}  // namespace nmb
