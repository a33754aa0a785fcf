// Converts failures of HDF5 to Status.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "handle.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// HDF5 prints no messages from now on.
void silence_hdf5();

// Returns the innermost message of HDF5's error stack, without times and addresses in memory, and
// clears the stack.
std::string last_hdf5_error();

// Returns kUnsupported with last_hdf5_error(), or kNoSpace if that reports a full device.
Status hdf5_failure(std::string_view what);

// The same, if a call of HDF5 returned a negative number.
inline Status check_hdf5(herr_t result, std::string_view what) {
  return result < 0 ? hdf5_failure(what) : Status();
}
inline Result<Handle> check_handle(hid_t id, std::string_view what) {
  if (id < 0) return hdf5_failure(what);
  return Handle(id);
}

// Returns properties for a new object (class: H5P_DATASET_CREATE, ...) whose header has no times,
// so that files with the same values have the same bytes, like those of netCDF-C.
inline Result<Handle> new_object_properties(hid_t property_class, std::string_view what) {
  NMB_ASSIGN(Handle properties, check_handle(H5Pcreate(property_class), what));
  NMB_TRY(check_hdf5(H5Pset_obj_track_times(properties.get(), false), what));
  return properties;
}

// Returns kDamaged, for invalid data of HDF5 in sections and tables.
inline Status damaged(std::string message) { return Status(Code::kDamaged, std::move(message)); }

// Returns "data set \"a/b\"", the form in which messages name objects.
std::string object_text(std::string_view kind, std::string_view name);

// Returns a string that ends with a NUL, as HDF5 requires for names. Errors: kUnsupported if the
// text contains a NUL.
Result<std::string> c_text(std::string_view text, std::string_view what);
// The same for the name of a link, which must not contain '/' nor be "" or ".".
Result<std::string> link_name(std::string_view name);

}  // namespace nmb::hdf5
