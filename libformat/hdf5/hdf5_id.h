// An HDF5 handle that closes itself, whatever it is of.
#pragma once

#include <hdf5.h>

#include <utility>

namespace nmb::hdf5 {

class Id {
 public:
  Id() = default;
  // Takes over a handle; a negative one is none.
  explicit Id(hid_t id) : id_(id) {}
  ~Id() { close(); }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  // A second owner of what is open already.
  Id share() const {
    H5Iinc_ref(id_);
    return Id(id_);
  }
  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  void close() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace nmb::hdf5
