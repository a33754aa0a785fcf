// Uses C++ functions as callbacks of HDF5's iterations (H5Literate, H5Aiterate2, H5Ewalk2, ...).
#pragma once

#include <hdf5.h>

#include <functional>
#include <new>
#include <utility>

#include "wire/failure.h"

namespace nmb::hdf5 {

// Calls a C++ function from HDF5. No exception may pass through HDF5, because it is written in C.
// If the function fails or runs out of memory, the iteration ends, and the failure is kept here.
template <class... Arguments>  // arguments of the callback, without its data pointer
class Hdf5Visitor {
 public:
  explicit Hdf5Visitor(std::function<Status(Arguments...)> visit) : visit_(std::move(visit)) {}

  // The callback to pass to HDF5. The data pointer of the callback must point to the visitor.
  static herr_t call(Arguments... arguments, void* visitor) noexcept {
    auto* const self = static_cast<Hdf5Visitor*>(visitor);
    try {
      self->status_ = self->visit_(arguments...);
    } catch (const std::bad_alloc&) {
      self->out_of_memory_ = true;  // a Status would need memory
    }
    return self->out_of_memory_ || !self->status_.ok() ? -1 : 0;
  }

  // Returns the failure of the function; kLimit if it ran out of memory.
  Status status() const { return out_of_memory_ ? Status(Code::kLimit, "out of memory") : status_; }

 private:
  const std::function<Status(Arguments...)> visit_;
  Status status_;
  bool out_of_memory_ = false;
};

}  // namespace nmb::hdf5
