#include "wire/bytes_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace nmb {
namespace {

using namespace std::chrono_literals;

TEST(BytesCache, ThreadsLoadTheSameBytesOnce) {
  BytesCache<2> cache(1 << 20);
  std::atomic<int> loads = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const auto bytes = cache.get({3, 4}, [&]() -> Result<std::vector<std::byte>> {
          ++loads;
          std::this_thread::sleep_for(50ms);
          return std::vector<std::byte>(5, std::byte{7});
        });
        ASSERT_TRUE(bytes.ok());
        EXPECT_EQ(**bytes, std::vector<std::byte>(5, std::byte{7}));
      });
  }
  EXPECT_EQ(loads, 1);
}

TEST(BytesCache, HoldsNoMoreThanItsLimit) {
  BytesCache<1> cache(10'000);
  int loads = 0;
  const auto get = [&](std::uint64_t key, std::size_t length) {
    const auto bytes = cache.get({key}, [&]() -> Result<std::vector<std::byte>> {
      ++loads;
      return std::vector<std::byte>(length);
    });
    EXPECT_EQ((*bytes)->size(), length);
    return loads;
  };
  EXPECT_EQ(get(1, 4000), 1);
  EXPECT_EQ(get(2, 4000), 2);
  EXPECT_EQ(get(1, 4000), 2);
  EXPECT_EQ(get(3, 4000), 3);  // the place of 2, which was used least recently
  EXPECT_EQ(get(1, 4000), 3);
  EXPECT_EQ(get(2, 4000), 4);
  EXPECT_EQ(get(4, 20'000), 5);  // a single longer entry
  EXPECT_EQ(get(4, 20'000), 5);
  EXPECT_EQ(get(1, 4000), 6);
}

TEST(BytesCache, FailuresAreNotKept) {
  BytesCache<1> cache(100);
  const auto fail = []() -> Result<std::vector<std::byte>> { return Status(Code::kIo, "no"); };
  const auto load = []() -> Result<std::vector<std::byte>> { return std::vector<std::byte>(3); };
  EXPECT_EQ(cache.get({1}, fail).status().code(), Code::kIo);
  EXPECT_TRUE(cache.get({1}, load).ok());
  EXPECT_TRUE(cache.get({1}, fail).ok());
}

}  // namespace
}  // namespace nmb
