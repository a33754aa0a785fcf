// Shares work between several threads of this process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

// Calls work() on `threads` threads, one of which is the calling thread. Uses fewer threads if not
// all can be started. Throws the first exception of work(), when all threads have ended.
template <class Work>
void on_each_thread(std::size_t threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back(guarded);
    } catch (const std::system_error&) {
      // The threads that have started do all the work.
    }
    guarded();
  }
  if (thrown) std::rethrow_exception(thrown);
}

// Calls worker(i) once for each i from 0 to `count` - 1, on up to `threads` threads. Each thread
// makes its own worker with make_worker().
template <class MakeWorker>
void for_each_on_threads(unsigned threads, std::size_t count, const MakeWorker& make_worker) {
  std::atomic<std::size_t> next{0};
  on_each_thread(std::min<std::size_t>(threads, count), [&] {
    auto worker = make_worker();
    for (std::size_t i; (i = next++) < count;) worker(i);
  });
}

// Calls work(stop) on each of the threads, and returns the first error or exception. An error sets
// `stop`, which asks the other threads to end.
template <class Work>
Status share_work(std::size_t threads, const Work& work) {
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Status failure;
  on_each_thread(threads, [&] {
    Status status;
    try {
      status = work(std::as_const(stop));
    } catch (const std::bad_alloc&) {
      status = Status(Code::kLimit, "out of memory");
    } catch (const std::exception& error) {
      status = Status(Code::kUsage, joined_text("unexpected exception: ", error.what()));
    } catch (...) {
      status = Status(Code::kUsage, "unexpected exception of an unknown type");
    }
    if (status.ok()) return;
    stop = true;
    std::lock_guard lock(mutex);
    if (failure.ok()) failure = std::move(status);
  });
  return failure;
}

}  // namespace nmb
