// NetcdfLibrary: functions of the netCDF-C library that calls the dispatch table. Nothing is linked
// with netCDF-C, because its library has another name in each version, and a process may have
// several.
#pragma once

#include <netcdf.h>

#include <cstddef>

struct NC_Dispatch;

namespace nmb::udf {

// Returns a function of the library that the code at `caller` belongs to or uses, or nullptr.
// own: the address of a function of this library, which is not returned.
void* find_function(const char* name, const void* caller, const void* own = nullptr);

// netCDF-C keeps its own list of a file's user types, by which nc_reclaim_data() and
// nc_copy_data() find what to free and copy. These functions fill the list.
struct NetcdfLibrary {
  int (*add_file)(int ncid, const char* path, int mode, void** data);
  int (*delete_file)(int ncid);
  int (*def_group)(int ncid, const char* name, int* id);
  int (*def_compound)(int ncid, std::size_t size, const char* name, nc_type* id);
  int (*insert_array)(int ncid, int type, const char* name, std::size_t offset, nc_type field,
                      int rank, const int* lengths);
  int (*def_vlen)(int ncid, const char* name, nc_type base, nc_type* id);
  int (*def_enum)(int ncid, nc_type base, const char* name, nc_type* id);
  int (*def_opaque)(int ncid, std::size_t size, const char* name, nc_type* id);

  // Returns NC_ENOTBUILT if a function is not there.
  int find(const void* caller);
};

}  // namespace nmb::udf
