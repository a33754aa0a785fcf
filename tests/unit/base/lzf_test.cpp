// decode_lzf(): literal bytes, copies, and streams that are damaged.
#include "wire/lzf.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nmb {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

std::optional<std::string> decoded(const std::vector<std::byte>& stored, std::size_t room = 100) {
  std::vector<std::byte> out(room);
  const Decoded done = decode_lzf(stored, out);
  if (!done.length) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(out.data()), *done.length);
}

TEST(LzfTest, DecodesLiteralsAndCopies) {
  EXPECT_EQ(decoded({}), "");
  EXPECT_EQ(decoded(bytes({2, 'a', 'b', 'c'})), "abc");
  // a copy of 2 + 1 bytes from 3 bytes before the end
  EXPECT_EQ(decoded(bytes({2, 'a', 'b', 'c', 1 << 5, 2})), "abcabc");
  // a copy that repeats what it writes
  EXPECT_EQ(decoded(bytes({0, 'x', 4 << 5, 0})), "xxxxxxx");
  // a long copy: 7 + 5 + 2 bytes
  EXPECT_EQ(decoded(bytes({1, 'a', 'b', 7 << 5, 5, 1})), "abababababababab");
}

TEST(LzfTest, FindsDamage) {
  EXPECT_FALSE(decoded(bytes({2, 'a', 'b'})));        // fewer literals than it says
  EXPECT_FALSE(decoded(bytes({0, 'a', 1 << 5})));     // without a distance
  EXPECT_FALSE(decoded(bytes({0, 'a', 7 << 5})));     // without a length
  EXPECT_FALSE(decoded(bytes({0, 'a', 7 << 5, 1})));  // without a distance
  EXPECT_FALSE(decoded(bytes({0, 'a', 1 << 5, 1})));  // from before the beginning
  EXPECT_FALSE(decoded(bytes({1 << 5, 0})));          // from nothing
}

TEST(LzfTest, AsksForRoom) {
  for (const auto& stored : {bytes({2, 'a', 'b', 'c'}), bytes({0, 'a', 4 << 5, 0})}) {
    std::vector<std::byte> out(2);
    const Decoded done = decode_lzf(stored, out);
    EXPECT_FALSE(done.length);
    EXPECT_TRUE(done.wants_room);
  }
}

}  // namespace
}  // namespace nmb
