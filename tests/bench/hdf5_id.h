// An HDF5 handle that closes itself.
#pragma once

#include <hdf5.h>

#include <stdexcept>

namespace nmb::bench {

class Hdf5Id {
 public:
  // Throws if HDF5 gave no handle.
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error("HDF5 failed");
  }
  ~Hdf5Id() { close_(id_); }
  Hdf5Id(const Hdf5Id&) = delete;
  Hdf5Id& operator=(const Hdf5Id&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace nmb::bench
