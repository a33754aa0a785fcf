#include "background.h"

#include <condition_variable>
#include <exception>
#include <thread>

namespace nmb_python {

namespace {
constexpr std::chrono::milliseconds kLook{50};       // between two looks for a signal
constexpr std::chrono::milliseconds kReported{100};  // between two calls for progress
}  // namespace

std::function<void(std::uint64_t, std::uint64_t)> Background::progress() {
  return [this](std::uint64_t done, std::uint64_t total) {
    if (cancel_) throw nmb::Error(nmb::Status(nmb::Code::kIo, "interrupted"));
    const auto now = std::chrono::steady_clock::now();
    if (progress_.is_none() || (done < total && now - last_ < kReported)) return;
    last_ = now;
    nmb::check(call([&] { progress_(done, total); }));
  };
}

void Background::run(const std::function<void()>& work) {
  std::mutex mutex;
  std::condition_variable ended;
  bool is_done = false;
  std::exception_ptr thrown;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::scoped_lock lock(mutex);
    is_done = true;
    ended.notify_one();
  });
  std::optional<nb::python_error> signalled;
  for (bool done = false; !done;) {
    {
      const nb::gil_scoped_release unlocked;
      std::unique_lock lock(mutex);
      done = ended.wait_for(lock, kLook, [&] { return is_done; });
    }
    if (!done && !signalled && PyErr_CheckSignals() != 0) {
      signalled.emplace();
      cancel_ = true;
    }
  }
  {
    const nb::gil_scoped_release unlocked;
    thread.join();
  }
  if (signalled) throw std::move(*signalled);
  if (raised_) throw std::move(*raised_);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace nmb_python
