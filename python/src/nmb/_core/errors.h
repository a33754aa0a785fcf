// Failures of the library as Python exceptions (nmb/_errors.py).
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/error.h>

#include <string_view>

namespace nmb_python {

namespace nb = nanobind;

// Raises the exception for a failure. object: the full name of the block or variable that was used,
// or "".
[[noreturn]] void raise(const nmb::Status& status, std::string_view object = {});
inline void need(const nmb::Status& status, std::string_view object = {}) {
  if (!status.ok()) raise(status, object);
}
template <class T>
T need(nmb::Result<T> result, std::string_view object = {}) {
  if (!result.ok()) raise(result.status(), object);
  return *std::move(result);
}
// Returns the exception as an object, which is not raised.
nb::object exception_of(const nmb::Status& status, std::string_view object = {});
void bind_errors(nb::module_& module);

}  // namespace nmb_python
