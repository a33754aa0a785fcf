#include "compare/value_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace nmb {
namespace {

// Which of several failures is returned must not depend on the threads.
TEST(ValueJobs, ReturnTheFailureOfTheFirstJob) {
  std::vector<ValueJob> jobs(12);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].first = i;
  for (const unsigned threads : {1U, 2U, 5U}) {
    const Status status = run_value_jobs(threads, jobs, [] {
      return [](const ValueJob& job) -> Status {
        if (job.first < 3) return {};
        if (job.first == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return Status(Code::kDamaged, "job " + std::to_string(job.first));
      };
    });
    EXPECT_EQ(status.message(), "job 3") << threads << " threads";
  }
}

}  // namespace
}  // namespace nmb
