// Background: runs a long call of the library so that Ctrl-C stops it, and that it can report its
// progress to a Python function.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/error.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace nmb_python {

namespace nb = nanobind;

class Background {
 public:
  // progress: none, or a function of two numbers of bytes, done and total.
  explicit Background(nb::object progress) : progress_(std::move(progress)) {}

  // For the options of the library.
  const std::atomic<bool>* cancel() const { return &cancel_; }
  std::function<void(std::uint64_t, std::uint64_t)> progress();

  // Calls work() on a thread of its own, without the interpreter's lock, and waits for its end.
  // Raises KeyboardInterrupt, or the exception of the function for progress, after the call has
  // stopped. work() must not use the interpreter. Needs the lock, and releases it.
  void run(const std::function<void()>& work);
  // Calls a Python function, which may raise an exception: the library's call then stops. Takes the
  // lock.
  template <class Call>
  nmb::Status call(const Call& call) {
    const nb::gil_scoped_acquire locked;
    try {
      call();
      return {};
    } catch (nb::python_error& error) {
      cancel_ = true;
      if (!raised_) raised_.emplace(std::move(error));
    }
    return nmb::Status(nmb::Code::kIo, "interrupted");
  }

 private:
  const nb::object progress_;
  std::atomic<bool> cancel_{false};
  std::optional<nb::python_error> raised_;  // protected by the interpreter's lock
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace nmb_python
