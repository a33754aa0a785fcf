// Work that several threads of this process share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "nmb/status.h"

namespace nmb {

// Calls work(stop) on each of the threads, this one among them. The first failure (what is thrown
// too) sets `stop`, which says that the others shall end, and is returned.
template <class Work>
Status share_work(unsigned threads, const Work& work) {
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Status failure;
  auto run = [&] {
    Status status;
    try {
      status = work(std::as_const(stop));
    } catch (const std::bad_alloc&) {
      status = Status(Code::kLimit, "out of memory");
    } catch (const std::exception& error) {
      status = Status(Code::kUsage, std::string("found an exception: ") + error.what());
    }
    if (status.ok()) return;
    stop = true;
    std::lock_guard lock(mutex);
    if (failure.ok()) failure = std::move(status);
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(run);
  } catch (const std::system_error&) {
    // As many as there can be; this thread alone will do.
  }
  run();
  for (std::thread& thread : others) thread.join();
  return failure;
}

// Calls call(0) to call(count - 1), in any order, until one fails.
template <class Call>
Status for_each_on_threads(unsigned threads, std::size_t count, const Call& call) {
  std::atomic<std::size_t> next{0};
  const auto useful = static_cast<unsigned>(std::min<std::size_t>(threads, count));
  return share_work(useful, [&](const std::atomic<bool>& stop) -> Status {
    for (std::size_t i; !stop && (i = next.fetch_add(1)) < count;) NMB_TRY(call(i));
    return {};
  });
}

}  // namespace nmb
