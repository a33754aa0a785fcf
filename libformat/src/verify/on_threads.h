// on_threads: the same work on many items, by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace nmb {

// Each thread, this one among them, calls what make_worker() gives it with one number below `count`
// after the other; each number is taken once.
template <class MakeWorker>
void on_threads(unsigned threads, std::size_t count, const MakeWorker& make_worker) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    auto worker = make_worker();
    for (std::size_t i; (i = next++) < count;) worker(i);
  };
  std::vector<std::jthread> others;
  const std::size_t wanted = std::min<std::size_t>(std::max(threads, 1u), count);
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are do the work.
  }
  work();
}

}  // namespace nmb
