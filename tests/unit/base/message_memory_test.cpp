// Memory of long messages is used again, and not kept without end (parallel/communicator.h).
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {
namespace {

constexpr std::size_t kLong = 1 << 20;

TEST(MessageMemory, GivesTheSameBytesAgain) {
  MessageMemory memory;
  std::vector<std::byte> bytes = memory.take(kLong);
  const std::byte* const where = bytes.data();
  ASSERT_GE(bytes.capacity(), kLong);
  memory.give_back(std::move(bytes));
  bytes = memory.take(kLong / 2);
  EXPECT_EQ(bytes.data(), where);
  const std::vector<std::byte> second = memory.take(kLong / 2);
  EXPECT_NE(second.data(), where);
}

TEST(MessageMemory, TakesTheLeastThatIsEnough) {
  MessageMemory memory;
  std::vector<std::byte> small = memory.take(kLong), large = memory.take(4 * kLong);
  const std::byte *const of_small = small.data(), *const of_large = large.data();
  memory.give_back(std::move(large));
  memory.give_back(std::move(small));
  const std::vector<std::byte> first = memory.take(kLong), second = memory.take(kLong);
  EXPECT_EQ(first.data(), of_small);
  EXPECT_EQ(second.data(), of_large);
}

TEST(MessageMemory, KeepsNoMoreThanItsLimit) {
  MessageMemory memory;
  memory.give_back(memory.take(100));
  EXPECT_EQ(memory.kept(), 0u);
  std::vector<std::vector<std::byte>> given;
  for (int i = 0; i < 100; ++i) given.push_back(memory.take(kLong));
  for (std::vector<std::byte>& bytes : given) memory.give_back(std::move(bytes));
  EXPECT_EQ(memory.kept(), MessageMemory::kMost);
  static_cast<void>(memory.take(kLong));
  EXPECT_EQ(memory.kept(), MessageMemory::kMost - kLong);
}

}  // namespace
}  // namespace nmb
