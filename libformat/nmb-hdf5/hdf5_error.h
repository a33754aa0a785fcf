// Converts failures of HDF5 to Status.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "handle.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

// Makes HDF5 print no messages from now on.
void silence_hdf5();

// Returns a failure with the message "WHAT: HDF5: REASON". The reason is the innermost message of
// HDF5's error stack, without times and memory addresses. The stack is cleared. The code is
// kNoSpace if the device is full, otherwise `code`. A kDamaged failure has rule R-XC-1 if a filter
// could not decode a chunk.
Status hdf5_failure(std::string_view what, Code code = Code::kUnsupported);

// An HDF5 call that fails returns a negative number. The next functions check calls that write.
inline Status check_hdf5(herr_t result, std::string_view what) {
  return result < 0 ? hdf5_failure(what) : Status();
}
inline Result<Handle> check_handle(hid_t id, std::string_view what) {
  if (id < 0) return hdf5_failure(what);
  return Handle(id);
}

// The next functions check calls that read. A failure is kDamaged.
inline Status check_read(std::int64_t result, std::string_view object) {
  return result < 0 ? hdf5_failure(object, Code::kDamaged) : Status();
}
template <class T>
Result<T> read_value(T result, std::string_view object) {
  if (result < 0) return hdf5_failure(object, Code::kDamaged);
  return result;
}
inline Result<Handle> read_handle(hid_t id, std::string_view object) {
  if (id < 0) return hdf5_failure(object, Code::kDamaged);
  return Handle(id);
}

// Returns creation properties (of the class H5P_DATASET_CREATE, ...) for an object without times in
// its header. Files that are made from the same values then have the same bytes, as with netCDF-C.
inline Result<Handle> new_object_properties(hid_t property_class, std::string_view what) {
  NMB_ASSIGN(Handle properties, check_handle(H5Pcreate(property_class), what));
  NMB_TRY(check_hdf5(H5Pset_obj_track_times(properties.get(), false), what));
  return properties;
}

Status damaged(const auto&... parts) { return failure(Code::kDamaged, parts...); }
Status unsupported(const auto&... parts) { return failure(Code::kUnsupported, parts...); }
// Returns a failure like `status` with "OBJECT, " before the message.
Status within(const std::string& object, const Status& status);

// Returns an object's name in the form for messages, for example "data set \"a/b\"".
std::string object_text(std::string_view kind, std::string_view name);

// Returns a string that ends with a NUL, as HDF5 requires for names. Errors: kUnsupported if the
// text contains a NUL.
Result<std::string> c_text(std::string_view text, std::string_view what);
// Returns the name of a link as c_text() does. The name must not be "" or ".", and must not contain
// '/'.
Result<std::string> link_name(std::string_view name);

}  // namespace nmb::hdf5
