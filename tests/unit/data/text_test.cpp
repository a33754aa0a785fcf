// Names as text, for people and for JSON.
#include "model/text.h"

#include <gtest/gtest.h>

#include <map>

namespace nmb {
namespace {

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain name"), "plain name");
  EXPECT_EQ(printable("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(printable("a\tb\nc\rd"), "a\\tb\\nc\\rd");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("back\\slash"), "back\\\\slash");
  EXPECT_EQ(printable("\u00e9\u20ac\U0001F600"), "\u00e9\u20ac\U0001F600");
  EXPECT_EQ(printable("\u009b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\u202e\u2066\u200f\u061c\u2028"),
            "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x80\\xa8");
  EXPECT_EQ(printable("\u200d\u2060"), "\u200d\u2060");
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
}

TEST(Printable, IsUnambiguous) {
  std::map<std::string, std::string> seen;
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string bytes{static_cast<char>(a), static_cast<char>(b)};
      const auto [at, is_new] = seen.emplace(printable(bytes), bytes);
      ASSERT_TRUE(is_new) << at->first;
    }
}

TEST(Printable, IsReadBack) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string bytes{static_cast<char>(a), static_cast<char>(b)};
      ASSERT_EQ(bytes_of_printable(printable(bytes)), bytes) << printable(bytes);
    }
  for (const char* const text : {"\\", "a\\b", "\\x", "\\x4", "\\xg0", "\\x-1", "\\0"})
    EXPECT_EQ(bytes_of_printable(text), std::nullopt) << text;
}

TEST(JsonText, MapsBytesThatAreNoText) {
  EXPECT_EQ(json_text("\u00e9"), "\u00e9");
  EXPECT_EQ(json_text("\x80\xff"), "\uef80\uefff");
  EXPECT_EQ(json_text("\uef80"), "\uefee\uefbe\uef80");
  EXPECT_EQ(json_text("\uef7f\uf000"), "\uef7f\uf000");
}

TEST(Text, JsonTextGivesBackTheBytes) {
  for (const std::string bytes : {"", "a/b", "\u00e9", "\x80\xff", "\uef80", "\uef7f\uf000", "\xee",
                                  "\xee\xbe", "\uefee\uefbe\x80", "\xf0\x9f\x98\x80z"})
    EXPECT_EQ(bytes_of_json_text(json_text(bytes)), bytes);
}

}  // namespace
}  // namespace nmb
