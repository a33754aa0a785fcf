// Handles of the HDF5 library that close themselves. Failures of its calls are exceptions, which
// end a command of this program; main() reports them.
#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "hdf5_error.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// A failure caused by HDF5 or by a value in the file.
class Failure : public std::runtime_error {
 public:
  Failure(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

[[noreturn]] inline void fail(const std::string& object) {
  throw Failure(Code::kDamaged, object + ": HDF5: " + last_hdf5_error());
}

// Returns the result of a call, which is negative if the call has failed.
template <class T>
T checked(T result, const std::string& object) {
  if (result < 0) fail(object);
  return result;
}

class Id {
 public:
  using Close = herr_t (*)(hid_t);
  Id() = default;
  Id(hid_t id, Close close, const std::string& object) : id_(checked(id, object)), close_(close) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace nmb::hdf5
