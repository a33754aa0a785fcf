// Bytes that are sent as differences arrive unchanged, whatever the receiver had before.
#include "parallel/byte_changes.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/message_fields.h"

namespace nmb {
namespace {

std::vector<std::byte> bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Bytes of the message.
std::size_t check_changes(const std::vector<std::byte>& known,
                          const std::vector<std::byte>& bytes) {
  std::vector<std::byte> sent = known, received = known;
  const std::vector<std::byte> message = bytes_of_fields(take_changes(bytes, &sent));
  EXPECT_EQ(sent, bytes);
  ByteChanges changes;
  EXPECT_TRUE(take_fields(message, &changes).ok());
  EXPECT_EQ(changes.kind != ByteChanges::Kind::kNone, known != bytes);
  EXPECT_TRUE(apply_changes(changes, &received).ok());
  EXPECT_EQ(received, bytes);
  return message.size();
}

TEST(ByteChanges, ArriveAsTheyAre) {
  const auto long_text = bytes_of_text(std::string(1000, 'a') + "rank 1" + std::string(1000, 'b'));
  EXPECT_EQ(check_changes(long_text, long_text), 1u);
  const auto other = bytes_of_text(std::string(1000, 'a') + "rank 2" + std::string(1000, 'b'));
  EXPECT_LT(check_changes(long_text, other), 30u);
  const auto longer = bytes_of_text(std::string(1000, 'a') + "rank 10" + std::string(1000, 'b'));
  EXPECT_LT(check_changes(long_text, longer), 40u);
  EXPECT_LT(check_changes(longer, long_text), 40u);
  for (const char* text : {"", "a", "aa", "aaa", "ab", "aba"})
    for (const char* other_text : {"", "a", "aa", "aaa", "ba", "aba"})
      check_changes(bytes_of_text(text), bytes_of_text(other_text));
}

TEST(ByteChanges, ManyRuns) {
  std::mt19937 random(1);
  std::vector<std::byte> known(300);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes = known;
    for (auto left = random() % 20; left > 0; --left)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 8 == 0) bytes.resize(1 + random() % 400);
    check_changes(known, bytes);
    known = bytes;
  }
}

}  // namespace
}  // namespace nmb
