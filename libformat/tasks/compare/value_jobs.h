// ValueJob: a part of the work on the values of variables. Jobs run on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "compare/content_values.h"
#include "parallel/workers.h"
#include "wire/failure.h"

namespace nmb {

// Some windows of a variable.
struct ValueJob {
  std::size_t item = 0;  // number of the variable in the caller's list
  std::uint64_t first = 0, windows = 0;
};

// Appends the jobs for a variable. Returns whether there are several jobs.
inline bool add_value_jobs(std::size_t item, const ContentValues::Extent& extent,
                           std::vector<ValueJob>* jobs) {
  const std::uint64_t windows = extent.windows();
  const std::uint64_t most = std::max(extent.job_windows, extent.at_once / extent.window);
  for (std::uint64_t first = 0; first < windows; first += most)
    jobs->push_back({item, first, std::min(most, windows - first)});
  return windows > most;
}

// Calls worker(job) for each job, on up to `threads` threads. Each thread makes its own worker with
// make_worker(). No job begins after a failure. If several jobs fail, returns the failure of the
// first one. The result does not depend on the threads, because jobs begin in order and always end.
// cancel: nullptr, or the cancel of ContentOptions.
template <class MakeWorker>
Status run_value_jobs(unsigned threads, const std::vector<ValueJob>& jobs,
                      const MakeWorker& make_worker, const std::atomic<bool>* cancel = nullptr) {
  if (jobs.empty()) return {};
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = jobs.size();
  Status failure;
  const Status any = share_work(
      std::min<std::size_t>(std::max(threads, 1U), jobs.size()),
      [&](const std::atomic<bool>& stop) -> Status {
        auto worker = make_worker();
        for (std::size_t i; !stop && (i = next++) < jobs.size();) {
          Status status = cancel && *cancel ? Status(Code::kIo, "interrupted") : worker(jobs[i]);
          if (status.ok()) continue;
          const std::lock_guard lock(mutex);
          if (i < failed) failed = i, failure = status;
          return status;
        }
        return {};
      });
  return failure.ok() ? any : failure;
}

}  // namespace nmb
