// Functions of C++ as callbacks of HDF5's iterations (H5Literate, H5Aiterate2, H5Ewalk2, ...).
#pragma once

#include <hdf5.h>

#include <functional>
#include <new>
#include <utility>

#include "nmb/status.h"

namespace nmb::hdf5 {

// HDF5 is written in C: no exception may pass through it. A failure of the function, or the lack of
// memory in it, ends the iteration and is kept here.
template <class... Arguments>  // of the callback, without its data
class Hdf5Visitor {
 public:
  explicit Hdf5Visitor(std::function<Status(Arguments...)> visit) : visit_(std::move(visit)) {}

  // The callback, whose data is the visitor.
  static herr_t call(Arguments... arguments, void* visitor) noexcept {
    auto* const self = static_cast<Hdf5Visitor*>(visitor);
    try {
      self->status_ = self->visit_(arguments...);
    } catch (const std::bad_alloc&) {
      self->out_of_memory_ = true;  // a Status would need memory
    }
    return self->out_of_memory_ || !self->status_.ok() ? -1 : 0;
  }

  // How the function failed; kLimit: no memory.
  Status status() const { return out_of_memory_ ? Status(Code::kLimit, "out of memory") : status_; }

 private:
  const std::function<Status(Arguments...)> visit_;
  Status status_;
  bool out_of_memory_ = false;
};

}  // namespace nmb::hdf5
