#include "netcdf_library.h"

#include <dlfcn.h>

namespace nmb::udf {

namespace {

template <class Function>
bool found(Function* function, const char* name, const void* caller) {
  *function = reinterpret_cast<Function>(find_function(name, caller));
  return *function != nullptr;
}

}  // namespace

void* find_function(const char* name, const void* caller, const void* own) {
  // An interpreter loads its modules, and with them netCDF-C, so that other objects do not see
  // their names. The object of the caller does.
  Dl_info object;
  if (::dladdr(caller, &object) != 0 && object.dli_fname) {
    if (void* const handle = ::dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
      void* const function = ::dlsym(handle, name);
      ::dlclose(handle);
      if (function && function != own) return function;
    }
  }
  void* const function = ::dlsym(RTLD_DEFAULT, name);
  return function == own ? ::dlsym(RTLD_NEXT, name) : function;
}

int NetcdfLibrary::find(const void* caller) {
  const bool all = found(&add_file, "nc4_file_list_add", caller) &&
                   found(&delete_file, "nc4_file_list_del", caller) &&
                   found(&def_group, "NC4_def_grp", caller) &&
                   found(&def_compound, "NC4_def_compound", caller) &&
                   found(&insert_array, "NC4_insert_array_compound", caller) &&
                   found(&def_vlen, "NC4_def_vlen", caller) &&
                   found(&def_enum, "NC4_def_enum", caller) &&
                   found(&def_opaque, "NC4_def_opaque", caller);
  return all ? NC_NOERR : NC_ENOTBUILT;
}

}  // namespace nmb::udf
