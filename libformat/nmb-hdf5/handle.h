// Handle: owns an HDF5 identifier of any kind, and closes it at the end of its life.
#pragma once

#include <hdf5.h>

#include <utility>

namespace nmb::hdf5 {

class Handle {
 public:
  Handle() = default;
  // Takes ownership of a handle. A negative number means that there is no handle.
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() { close(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  // Returns a second owner of the same open object.
  Handle share() const {
    H5Iinc_ref(id_);
    return Handle(id_);
  }
  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  void close() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  hid_t id_ = H5I_INVALID_HID;
};

// Makes properties for access to a file. By default, later versions of HDF5 refuse number types
// that leave most of their bits unused.
inline hid_t file_access() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#ifdef H5F_RFIC_ALL
  if (access >= 0) H5Pset_relax_file_integrity_checks(access, H5F_RFIC_ALL);
#endif
  return access;
}

}  // namespace nmb::hdf5
