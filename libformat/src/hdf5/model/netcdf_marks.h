// The marks that netCDF and HDF5's dimension scales leave in a block that came from HDF5: which
// data set is a dimension, which dimensions a data set has (HDF5 Dimension Scale Specification;
// "Interoperability with HDF5" of netCDF). Marks that are not as those write them say nothing.
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
// Ahead of the name of a variable that has the name of a dimension and is not its scale.
inline constexpr std::string_view kNonCoordinate = "_nc4_non_coord_";

// Whether netCDF shows a dimension of an HDF5 file without a scale by such a name: phony_dim_N.
bool is_made_up(std::string_view dimension);

// All of metadata with an extension.
// The text of a string of fixed length, up to the first NUL.
std::string_view fixed_text(const Metadata& metadata, VarId owner, std::string_view name);
// Whether a variable is a dimension scale of HDF5.
bool is_dimension_scale(const Metadata& metadata, VarId variable);
// Whether it is one that netCDF shows no variable for. false: of metadata without an extension.
bool is_scale_alone(const Metadata& metadata, VarId variable);
// The integers of an attribute of four bytes each; none if it is of another type.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name);
// The same, if it has `count`.
std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name,
                                   std::size_t count);
// Whether an attribute has the type of DIMENSION_LIST.
bool is_list(const Metadata& metadata, const Attribute& a);
// The paths of the first scale of each dimension; empty: the dimension has none.
std::vector<std::string> scale_paths(const Metadata& metadata, VarId variable, std::size_t rank);

}  // namespace nmb
