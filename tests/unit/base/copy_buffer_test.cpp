#include "files/copy_buffer.h"

#include <gtest/gtest.h>

namespace nmb {
namespace {

bool is_slow(const std::byte* address, std::uint64_t from, std::uint64_t to) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return copies_slowly(from, at) || copies_slowly(at, to);
}

TEST(CopyBufferTest, SlowCopiesAreThoseWithATargetJustAheadOfTheSource) {
  EXPECT_FALSE(copies_slowly(100, 100));
  EXPECT_TRUE(copies_slowly(100, 101));
  EXPECT_TRUE(copies_slowly(100, 131));
  EXPECT_FALSE(copies_slowly(100, 132));
  EXPECT_FALSE(copies_slowly(101, 100));
  EXPECT_TRUE(copies_slowly(4090, 2));  // a page on
}

TEST(CopyBufferTest, NeitherReadNorWriteIsSlowWhateverTheOffsets) {
  CopyBuffer buffer(100);
  for (std::uint64_t from = 0; from < 4096; ++from)
    for (std::uint64_t to = (1u << 20) + from % 8; to < (1u << 20) + 4096; to += 8)
      ASSERT_FALSE(is_slow(buffer.room(100, from, to).data(), from, to)) << from << " " << to;
}

TEST(CopyBufferTest, GrowsAndIsWritableToItsEnd) {
  CopyBuffer buffer;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, std::size_t{1} << 21, std::size_t{20}}) {
    const std::span<std::byte> room = buffer.room(size, 7, 12);
    ASSERT_EQ(room.size(), size);
    for (std::byte& byte : room) byte = std::byte{1};
  }
}

}  // namespace
}  // namespace nmb
