// Error: what the functions of this library throw. Each function f() that can fail has a twin
// try_f(), which returns the same failure as a Status or a Result; f() is check(try_f()). If a
// callback throws an exception, the call fails with the Status that caught() returns for it.
// try_f() itself throws only std::bad_alloc. Calls of an empty handle, which was not assigned or
// was moved from, fail with kUsage; functions that fail only then, such as name(), have no twin.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "nmb/status.h"

namespace nmb {

class Error : public std::runtime_error {
 public:
  explicit Error(Status status) : std::runtime_error(status.text()), status_(std::move(status)) {}
  const Status& status() const noexcept { return status_; }
  Code code() const noexcept { return status_.code(); }
  const std::string& message() const noexcept { return status_.message(); }
  const std::string& file() const noexcept { return status_.file(); }
  std::uint64_t offset() const noexcept { return status_.offset(); }   // kNoOffset: no position
  const std::string& rule() const noexcept { return status_.rule(); }  // of spec/format.md, or ""
  int rank() const noexcept { return status_.rank(); }                 // kNoRank: no single rank

 private:
  Status status_;
};

// Throws an Error if `status` is a failure.
inline void check(Status status) {
  if (!status.ok()) throw Error(std::move(status));
}
// Returns the value of `result`, or throws an Error.
template <class T>
T check(Result<T> result) {
  if (!result.ok()) throw Error(result.status());
  return *std::move(result);
}

// Runs work(), which returns nothing or a Status, and returns this Status. For an exception,
// returns the status of an Error, kLimit for std::bad_alloc, and kUsage for any other, with the
// exception's text if it has one.
template <class Work>
Status caught(Work&& work) {
  using Returned = decltype(std::forward<Work>(work)());
  static_assert(std::is_void_v<Returned> || std::is_same_v<Returned, Status>,
                "work() returns nothing or a Status");
  try {
    if constexpr (std::is_void_v<Returned>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (const Error& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kLimit, "out of memory");
  } catch (const std::exception& error) {
    return Status(Code::kUsage, error.what());
  } catch (...) {
    return Status(Code::kUsage, "an exception of a type that is not derived from std::exception");
  }
}

}  // namespace nmb
