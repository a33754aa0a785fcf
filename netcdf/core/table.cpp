// The dispatch tables, and their registration.
#include <array>

#include "calls.h"
#include "nmb_netcdf.h"

// For the preloaded library: registers with the netCDF-C that the code at `caller` uses.
extern "C" int nmb_netcdf_register_for(const void* caller);

namespace nmb::udf {

namespace {

static_assert(NC_DISPATCH_VERSION == 5, "the tables have the functions of version 5");

// A function that would change the file, or give it a definition.
template <class Function>
struct Refused;
template <class... Arguments>
struct Refused<int (*)(Arguments...)> {
  static int call(Arguments...) { return NC_EPERM; }
};

template <class Function>
void refuse(Function& function) {
  function = &Refused<Function>::call;
}

int no_filter(int, unsigned) { return NC_ENOFILTER; }

// The library has a cache of its own, which programs cannot change.
int ignore_cache(int ncid, int, std::size_t, std::size_t, float) {
  return OpenFile::of(ncid) ? NC_NOERR : NC_EBADID;
}
int inq_cache(int ncid, int, std::size_t* size, std::size_t* slots, float* preemption) {
  if (!OpenFile::of(ncid)) return NC_EBADID;
  give(size, 0);
  give(slots, 0);
  give(preemption, 0);
  return NC_NOERR;
}
int any_access(int ncid, int, int) { return OpenFile::of(ncid) ? NC_NOERR : NC_EBADID; }

void refuse_writing(NC_Dispatch& t) {
  refuse(t.create), refuse(t.redef), refuse(t._enddef), refuse(t.set_fill);
  refuse(t.def_dim), refuse(t.rename_dim);
  refuse(t.rename_att), refuse(t.del_att), refuse(t.put_att);
  refuse(t.def_var), refuse(t.rename_var), refuse(t.def_var_fill);
  refuse(t.put_vara), refuse(t.put_vars), refuse(t.put_varm);
  refuse(t.def_grp), refuse(t.rename_grp);
  refuse(t.def_compound), refuse(t.insert_compound), refuse(t.insert_array_compound);
  refuse(t.def_vlen), refuse(t.put_vlen_element), refuse(t.def_enum), refuse(t.insert_enum);
  refuse(t.def_opaque);
  refuse(t.def_var_deflate), refuse(t.def_var_fletcher32), refuse(t.def_var_chunking);
  refuse(t.def_var_endian), refuse(t.def_var_filter), refuse(t.def_var_quantize);
}

NC_Dispatch make_table(int format) {
  NC_Dispatch t{};
  t.model = format;
  t.dispatch_version = NC_DISPATCH_VERSION;
  refuse_writing(t);
  t.open = format == NC_FORMATX_UDF0 ? open_as_udf0 : open_as_udf1;
  t.sync = nothing_to_sync;
  t.abort = leave;
  t.close = close;
  t.inq_format = inq_format;
  t.inq_format_extended = inq_format_extended;
  t.inq = inq;
  t.inq_type = inq_type;
  t.inq_dimid = inq_dimid;
  t.inq_dim = inq_dim;
  t.inq_unlimdim = inq_unlimdim;
  t.inq_att = inq_att;
  t.inq_attid = inq_attid;
  t.inq_attname = inq_attname;
  t.get_att = get_att;
  t.inq_varid = inq_varid;
  t.get_vara = get_vara;
  t.get_vars = get_vars;
  t.get_varm = get_varm;
  t.inq_var_all = inq_var_all;
  t.var_par_access = any_access;
  t.show_metadata = show_metadata;
  t.inq_unlimdims = inq_unlimdims;
  t.inq_ncid = inq_ncid;
  t.inq_grps = inq_grps;
  t.inq_grpname = inq_grpname;
  t.inq_grpname_full = inq_grpname_full;
  t.inq_grp_parent = inq_grp_parent;
  t.inq_grp_full_ncid = inq_grp_full_ncid;
  t.inq_varids = inq_varids;
  t.inq_dimids = inq_dimids;
  t.inq_typeids = inq_typeids;
  t.inq_type_equal = inq_type_equal;
  t.inq_user_type = inq_user_type;
  t.inq_typeid = inq_typeid;
  t.inq_compound_field = inq_compound_field;
  t.inq_compound_fieldindex = inq_compound_fieldindex;
  t.get_vlen_element = get_vlen_element;
  t.inq_enum_member = inq_enum_member;
  t.inq_enum_ident = inq_enum_ident;
  t.set_var_chunk_cache = ignore_cache;
  t.get_var_chunk_cache = inq_cache;
  t.inq_var_filter_ids = inq_var_filter_ids;
  t.inq_var_filter_info = inq_var_filter_info;
  t.inq_var_quantize = inq_var_quantize;
  t.inq_filter_avail = no_filter;
  return t;
}

}  // namespace

}  // namespace nmb::udf

extern "C" {

NMB_EXPORT NC_Dispatch nmb_netcdf_udf0 = nmb::udf::make_table(NC_FORMATX_UDF0);
NMB_EXPORT NC_Dispatch nmb_netcdf_udf1 = nmb::udf::make_table(NC_FORMATX_UDF1);

NMB_EXPORT int nmb_netcdf_register() {
  return nmb_netcdf_register_for(__builtin_return_address(0));
}

NMB_EXPORT int nmb_netcdf_register_for(const void* caller) {
  using Define = int (*)(int, NC_Dispatch*, char*);
  using Inquire = int (*)(int, NC_Dispatch**, char*);
  const auto define =
      reinterpret_cast<Define>(nmb::udf::find_function("nc_def_user_format", caller));
  const auto inquire =
      reinterpret_cast<Inquire>(nmb::udf::find_function("nc_inq_user_format", caller));
  if (!define || !inquire) return NC_ENOTBUILT;
  NC_Dispatch* first = nullptr;
  NC_Dispatch* second = nullptr;
  if (inquire(NC_UDF0, &first, nullptr) || inquire(NC_UDF1, &second, nullptr)) return NC_EINVAL;
  if (first == &nmb_netcdf_udf0 || second == &nmb_netcdf_udf1) return NC_NOERR;
  std::array<char, sizeof NMB_NETCDF_MAGIC> magic{NMB_NETCDF_MAGIC};
  if (!first) return define(NC_UDF0, &nmb_netcdf_udf0, magic.data());
  if (!second) return define(NC_UDF1, &nmb_netcdf_udf1, magic.data());
  return NC_EINVAL;
}

NMB_EXPORT NC_Dispatch* nmb_netcdf_init() {
  return nmb_netcdf_register_for(__builtin_return_address(0)) == NC_NOERR ? &nmb_netcdf_udf0
                                                                          : nullptr;
}

NMB_EXPORT const char* nmb_netcdf_message() { return nmb::udf::last_message(); }
}
