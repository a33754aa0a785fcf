#include "parallel/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace nmb::test {
namespace {

TEST(Workers, EachNumberOnce) {
  std::atomic<std::size_t> sum{0}, workers{0};
  for_each_on_threads(4, 1000, [&] {
    ++workers;
    return [&](std::size_t i) { sum += i; };
  });
  EXPECT_EQ(sum, 499500U);
  EXPECT_LE(workers, 4U);
}

// A callback of a user that throws must not end the process.
TEST(Workers, AnExceptionOfAnyThreadReachesTheCaller) {
  for (std::size_t bad : {0U, 1U, 500U, 999U})
    for (const unsigned threads : {1U, 4U}) {
      std::atomic<std::size_t> done{0};
      EXPECT_THROW(for_each_on_threads(threads, 1000,
                                       [&] {
                                         return [&](std::size_t i) {
                                           if (i == bad) throw std::runtime_error("stop");
                                           ++done;
                                         };
                                       }),
                   std::runtime_error);
      EXPECT_LT(done, 1000U);
    }
  EXPECT_THROW(for_each_on_threads(
                   3, 5, []() -> void (*)(std::size_t) { throw std::runtime_error("no worker"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace nmb::test
