// Characters and stray bytes are the same however the bytes are divided.
#include "model/utf8_split.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace nmb {
namespace {

using Parts = std::vector<std::pair<std::string, bool>>;

Parts split(const std::vector<std::string_view>& portions) {
  Parts parts;
  const auto visit = [&](std::string_view character, bool valid) {
    parts.emplace_back(character, valid);
  };
  Utf8Splitter splitter;
  for (std::string_view portion : portions) splitter.feed(portion, visit);
  splitter.finish(visit);
  return parts;
}

TEST(Utf8Split, CharactersAndStrayBytes) {
  EXPECT_EQ(split({"a\xC3\xA9\xFF\xE2\x82\xAC"}),
            (Parts{{"a", true}, {"\xC3\xA9", true}, {"\xFF", false}, {"\xE2\x82\xAC", true}}));
  EXPECT_EQ(split({"\xE2\x82x"}), (Parts{{"\xE2", false}, {"\x82", false}, {"x", true}}));
  EXPECT_EQ(split({"\xC0\x80"}), (Parts{{"\xC0", false}, {"\x80", false}}));
  EXPECT_EQ(split({"\xF0\x9F\x98"}), (Parts{{"\xF0", false}, {"\x9F", false}, {"\x98", false}}));
}

TEST(Utf8Split, DivisionsMakeNoDifference) {
  const char* const pieces[] = {"a",    "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                "\xFF", "\xE2",     "\xF0\x9F",     "\x80",
                                "\xC3"};
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto n = random() % 6; n > 0; --n) text += pieces[random() % std::size(pieces)];
    std::vector<std::string_view> portions;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t length = random() % (rest.size() + 1);
      portions.push_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    ASSERT_EQ(split(portions), split({text}));
  }
}

}  // namespace
}  // namespace nmb
