// Reads values of variables and attributes into the memory of netCDF-C programs.
#pragma once

#include <netcdf.h>

#include <cstddef>

#include "open_file.h"

namespace nmb::udf {

// What a program asks for. Without dimensions, `start`, `count` and `stride` may be null.
struct Selection {
  const std::size_t* start = nullptr;
  const std::size_t* count = nullptr;
  const std::ptrdiff_t* stride = nullptr;  // null: 1
};

// Reads a selection, converted to `memory` (NC_NAT: not converted). Along a dimension that may
// grow, a variable may have fewer values than the dimension: fill values follow them.
int read_values(OpenFile& file, Group& group, const GroupVariable& variable,
                const Selection& selection, nc_type memory, void* out);

// As read_values(), but element i of a dimension is put at map[d] * i.
int read_mapped(OpenFile& file, Group& group, const GroupVariable& variable,
                const Selection& selection, const std::ptrdiff_t* map, nc_type memory, void* out);

// variable: null for an attribute of the group.
int read_attribute(OpenFile& file, Group& group, const GroupVariable* variable,
                   const GroupAttribute& attribute, nc_type memory, void* out);

// Reads the fill value, in the type of the variable.
int read_fill(OpenFile& file, Group& group, const GroupVariable& variable, void* out);

// Reads values of a classic type from external form (big-endian), converted to `memory`.
int read_external(nc_type type, const std::byte* from, std::size_t count, nc_type memory,
                  void* out);

// Checks that values of a type can be read as another; sets NC_NAT to the type itself.
int check_types(nc_type type, nc_type* memory);

}  // namespace nmb::udf
