// Texts of several parts (wire/joined_text.h).
#include "wire/joined_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/paths.h"

namespace nmb {
namespace {

TEST(JoinedTest, PartsAreTextsCharactersAndIntegers) {
  EXPECT_EQ(joined_text("a ", std::string("b "), std::string_view("c "), 'd'), "a b c d");
  EXPECT_EQ(joined_text(-1, ' ', std::uint8_t{65}, ' ', ~std::uint64_t{0}),
            "-1 65 18446744073709551615");
  EXPECT_EQ(joined_text(std::string_view("\0x", 2), '\0').size(), 3u);
  EXPECT_EQ(joined_text(), "");
}

TEST(JoinedTest, AlternativesHaveCommasAndOr) {
  const std::string words[] = {"a", "b", "c"};
  EXPECT_EQ(alternatives_text(words), "a, b or c");
  EXPECT_EQ(alternatives_text(std::span(words).first(2)), "a or b");
  EXPECT_EQ(alternatives_text(std::span(words).first(1)), "a");
}

TEST(JoinedTest, FailureHasThePartsAsItsMessage) {
  const Status status = failure(Code::kLimit, "found ", 3, " items");
  EXPECT_EQ(status.code(), Code::kLimit);
  EXPECT_EQ(status.message(), "found 3 items");
}

TEST(JoinedTest, PathsBeginWithoutSlash) {
  EXPECT_EQ(joined_path("", "x"), "x");
  EXPECT_EQ(joined_path("a/b", "x"), "a/b/x");
}

}  // namespace
}  // namespace nmb
