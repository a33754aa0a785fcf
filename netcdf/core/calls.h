// The functions of the dispatch table, by the parts of netCDF-C's interface. Each returns an error
// code of netCDF-C; pointers for results may be null.
#pragma once

#include <netcdf.h>
#include <netcdf_dispatch.h>

#include <cstring>
#include <string_view>

#include "codes.h"
#include "open_file.h"

namespace nmb::udf {

// Runs work(file, group) for the group of an ncid.
template <class Work>
int on_group(int ncid, Work work) {
  return guarded([&]() -> int {
    OpenFile* const file = OpenFile::of(ncid);
    if (!file) return NC_EBADID;
    NMB_NC_TRY(file->renew());
    Group* const group = file->group(ncid & 0xFFFF);
    return group ? work(*file, *group) : NC_EBADID;
  });
}

// Runs work(file, group) for a group whose definitions are loaded.
template <class Work>
int on_loaded(int ncid, Work work) {
  return on_group(ncid, [&](OpenFile& file, Group& group) -> int {
    NMB_NC_TRY(file.load(group));
    return work(file, group);
  });
}

template <class Work>
int on_variable(int ncid, int number, Work work) {
  return on_loaded(ncid, [&](OpenFile& file, Group& group) -> int {
    if (number < 0 || static_cast<std::size_t>(number) >= group.variables.size()) return NC_ENOTVAR;
    return work(file, group, group.variables[static_cast<std::size_t>(number)]);
  });
}

template <class T, class Value>
void give(T* out, Value value) {
  if (out) *out = static_cast<T>(value);
}

// Programs have room for NC_MAX_NAME characters.
inline int give_name(char* out, std::string_view name) {
  if (!out) return NC_NOERR;
  if (name.size() > NC_MAX_NAME) return NC_EMAXNAME;
  std::memcpy(out, name.data(), name.size());
  out[name.size()] = '\0';
  return NC_NOERR;
}

// file_calls.cpp
int open_as_udf0(const char* path, int mode, int basepe, std::size_t* hint, void* parameters,
                 const NC_Dispatch* table, int ncid);
int open_as_udf1(const char* path, int mode, int basepe, std::size_t* hint, void* parameters,
                 const NC_Dispatch* table, int ncid);
int close(int ncid, void* parameters);
int leave(int ncid);
int nothing_to_sync(int ncid);
int inq_format(int ncid, int* format);
int inq_format_extended(int ncid, int* format, int* mode);
int inq(int ncid, int* dimensions, int* variables, int* attributes, int* unlimited);
int show_metadata(int ncid);

// group_calls.cpp
int inq_ncid(int ncid, const char* name, int* group);
int inq_grps(int ncid, int* count, int* groups);
int inq_grpname(int ncid, char* name);
int inq_grpname_full(int ncid, std::size_t* length, char* name);
int inq_grp_parent(int ncid, int* parent);
int inq_grp_full_ncid(int ncid, const char* name, int* group);
int inq_varids(int ncid, int* count, int* ids);
int inq_dimids(int ncid, int* count, int* ids, int with_parents);
int inq_typeids(int ncid, int* count, int* ids);
int inq_unlimdims(int ncid, int* count, int* ids);
int inq_unlimdim(int ncid, int* id);
int inq_dimid(int ncid, const char* name, int* id);
int inq_dim(int ncid, int id, char* name, std::size_t* length);

// type_calls.cpp
int inq_type(int ncid, nc_type type, char* name, std::size_t* size);
int inq_type_equal(int ncid, nc_type type, int other_ncid, nc_type other, int* equal);
int inq_user_type(int ncid, nc_type type, char* name, std::size_t* size, nc_type* base,
                  std::size_t* fields, int* type_class);
int inq_typeid(int ncid, const char* name, nc_type* type);
int inq_compound_field(int ncid, nc_type type, int field, char* name, std::size_t* offset,
                       nc_type* field_type, int* rank, int* lengths);
int inq_compound_fieldindex(int ncid, nc_type type, const char* name, int* field);
int inq_enum_member(int ncid, nc_type type, int member, char* name, void* value);
int inq_enum_ident(int ncid, nc_type type, long long value, char* name);
int get_vlen_element(int ncid, int type, const void* element, std::size_t* length, void* data);

// attribute_calls.cpp
int inq_att(int ncid, int variable, const char* name, nc_type* type, std::size_t* length);
int inq_attid(int ncid, int variable, const char* name, int* id);
int inq_attname(int ncid, int variable, int id, char* name);
int get_att(int ncid, int variable, const char* name, void* values, nc_type memory);

// variable_calls.cpp
int inq_varid(int ncid, const char* name, int* id);
int inq_var_all(int ncid, int variable, char* name, nc_type* type, int* rank, int* dimensions,
                int* attributes, int* shuffle, int* deflate, int* level, int* fletcher32,
                int* storage, std::size_t* chunk, int* no_fill, void* fill, int* endian,
                unsigned* filter, std::size_t* parameter_count, unsigned* parameters);
int get_vara(int ncid, int variable, const std::size_t* start, const std::size_t* count,
             void* values, nc_type memory);
int get_vars(int ncid, int variable, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, void* values, nc_type memory);
int get_varm(int ncid, int variable, const std::size_t* start, const std::size_t* count,
             const std::ptrdiff_t* stride, const std::ptrdiff_t* map, void* values, nc_type memory);
int inq_var_filter_ids(int ncid, int variable, std::size_t* count, unsigned* ids);
int inq_var_filter_info(int ncid, int variable, unsigned id, std::size_t* count,
                        unsigned* parameters);
int inq_var_quantize(int ncid, int variable, int* mode, int* digits);

}  // namespace nmb::udf
