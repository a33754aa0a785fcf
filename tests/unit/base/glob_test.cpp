// Patterns of names: matches of globs and regular expressions, and their literal prefixes.
#include "handles/glob.h"

#include <gtest/gtest.h>

#include <random>

namespace nmb::tools {
namespace {

bool glob_matches(std::string_view pattern, std::string_view name) {
  const Result<NamePattern> glob = NamePattern::glob(pattern);
  EXPECT_TRUE(glob.ok()) << pattern << ": " << glob.status().text();
  return glob.ok() && *glob->matches(name);
}

struct GlobCase {
  std::string_view pattern, name;
  bool matches;
};

class GlobMatches : public ::testing::TestWithParam<GlobCase> {};

TEST_P(GlobMatches, AsDocumented) {
  const GlobCase& c = GetParam();
  EXPECT_EQ(glob_matches(c.pattern, c.name), c.matches) << c.pattern << " and " << c.name;
}

INSTANTIATE_TEST_SUITE_P(
    Glob, GlobMatches,
    ::testing::Values(
        GlobCase{"", "", true}, GlobCase{"", "a", false}, GlobCase{"a", "a", true},
        GlobCase{"a", "ab", false}, GlobCase{"*", "", true}, GlobCase{"*", "ab", true},
        GlobCase{"*", "a/b", false}, GlobCase{"a*c", "abbc", true}, GlobCase{"a*c", "ac", true},
        GlobCase{"a*c", "a/c", false}, GlobCase{"**", "", true}, GlobCase{"**", "a/b/c", true},
        GlobCase{"***", "a/b", true}, GlobCase{"a/**", "a/b/c", true}, GlobCase{"a/**", "a/", true},
        GlobCase{"a/**", "a", false}, GlobCase{"a/**", "ab/c", false},
        GlobCase{"a**", "ab/c", true}, GlobCase{"**/c", "c", true}, GlobCase{"**/c", "a/b/c", true},
        GlobCase{"**/c", "abc", false}, GlobCase{"a/**/c", "a/c", true},
        GlobCase{"a/**/c", "a/b/b/c", true}, GlobCase{"a/**/c", "ac", false},
        GlobCase{"a**/c", "ab/c", true}, GlobCase{"a**/c", "a/b/c", true},
        GlobCase{"a**/c", "c", false}, GlobCase{"?", "a", true}, GlobCase{"?", "/", false},
        GlobCase{"?", "\u00e9", true}, GlobCase{"?", "\u20ac", true},
        GlobCase{"??", "\u00e9", false}, GlobCase{"?", "\xff", true}, GlobCase{"?", "", false},
        GlobCase{"a?c", std::string_view("a\nc"), true}, GlobCase{"**", "a\nb", true},
        GlobCase{"[ab]", "b", true}, GlobCase{"[ab]", "c", false}, GlobCase{"[a-c]x", "bx", true},
        GlobCase{"[!a-c]", "b", false}, GlobCase{"[^a-c]", "d", true},
        GlobCase{"[!a]", "\u20ac", true}, GlobCase{"[!a]", "/", false},
        GlobCase{"[.-0]", "/", false}, GlobCase{"[]]", "]", true}, GlobCase{"[!]]", "]", false},
        GlobCase{"[a-]", "-", true}, GlobCase{"[\\]]", "]", true}, GlobCase{"[*]", "*", true},
        GlobCase{"[[:alpha:]", ":", true}, GlobCase{"\\*", "*", true}, GlobCase{"\\*", "a", false},
        GlobCase{"a.b", "axb", false}, GlobCase{"(a|b)+", "(a|b)+", true},
        GlobCase{"{a,b}", "a", false}, GlobCase{"\\\\", "\\", true}, GlobCase{"a$", "a$", true},
        GlobCase{"a", "a\n", false}, GlobCase{"a*", "a\n", true}, GlobCase{"A", "a", false}));

TEST(Glob, RefusesWhatIsNone) {
  for (const std::string_view pattern : {"[", "[a", "[]", "a[b\\", "a\\", "[c-a]", "[\u00e9]"}) {
    const Result<NamePattern> glob = NamePattern::glob(pattern);
    ASSERT_FALSE(glob.ok()) << pattern;
    EXPECT_EQ(glob.status().code(), Code::kUsage);
  }
}

TEST(Glob, KnowsItsPrefix) {
  const auto expect = [](std::string_view pattern, std::string_view prefix, bool literal,
                         bool whole) {
    const NamePattern glob = *NamePattern::glob(pattern);
    EXPECT_EQ(glob.literal_prefix(), prefix) << pattern;
    EXPECT_EQ(glob.is_literal(), literal) << pattern;
    EXPECT_EQ(glob.is_whole_prefix(), whole) << pattern;
  };
  expect("a/b", "a/b", true, false);
  expect("a\\*b", "a*b", true, false);
  expect("a/**", "a/", false, true);
  expect("**", "", false, true);
  expect("ab**", "ab", false, true);
  expect("a/**/**", "a/", false, false);
  expect("a?**", "a", false, false);
  expect("a/*", "a/", false, false);
  expect("a/**/c", "a/", false, false);
  expect("[a]b", "", false, false);
}

TEST(Regex, MatchesAnywhereUnlessAnchored) {
  const auto matches = [](std::string_view expression, std::string_view name) {
    return *NamePattern::regex(expression)->matches(name);
  };
  EXPECT_TRUE(matches("b", "abc"));
  EXPECT_FALSE(matches("^b", "abc"));
  EXPECT_TRUE(matches("^a.c$", "a\u20acc"));
  EXPECT_TRUE(matches("c",
                      "a\xff"
                      "c"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_EQ(NamePattern::regex("(").status().code(), Code::kUsage);
  EXPECT_EQ(NamePattern::regex("\\C").status().code(), Code::kUsage);
}

TEST(Regex, KnowsItsPrefix) {
  const auto prefix = [](std::string_view expression) {
    return NamePattern::regex(expression)->literal_prefix();
  };
  EXPECT_EQ(prefix("^run0[0-4]"), "run0");
  EXPECT_EQ(prefix("^run0?"), "run");
  EXPECT_EQ(prefix("^run0+"), "run");
  EXPECT_EQ(prefix("^a\u20ac{2}"), "a");
  EXPECT_EQ(prefix("^a|b"), "");
  EXPECT_EQ(prefix("run"), "");
  EXPECT_EQ(prefix("(?i)^a"), "");
  EXPECT_EQ(prefix("^a\\.b"), "a");
  EXPECT_EQ(prefix("^abc$"), "abc");
}

TEST(Regex, BoundsItsSteps) {
  const NamePattern pattern = *NamePattern::regex("^(a+)+$");
  const Result<bool> found = pattern.matches(std::string(40, 'a') + "!");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), Code::kLimit);
}

// The plainest matcher there is, of patterns of a, b, /, ?, * and **.
bool plain_match(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.starts_with("**")) {
    for (std::size_t i = 0; i <= name.size(); ++i)
      if (plain_match(pattern.substr(2), name.substr(i))) return true;
    return false;
  }
  if (pattern[0] == '*') {
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (plain_match(pattern.substr(1), name.substr(i))) return true;
      if (i < name.size() && name[i] == '/') return false;
    }
    return false;
  }
  if (name.empty() || (pattern[0] == '?' ? name[0] == '/' : pattern[0] != name[0])) return false;
  return plain_match(pattern.substr(1), name.substr(1));
}

TEST(Glob, AgreesWithThePlainestMatcher) {
  std::mt19937 random(7);
  // "x**" is never at the front of a part, where "**/" may be nothing.
  const std::string_view parts[] = {"a", "b", "/", "?", "*", "b**", "a"};
  const std::string_view letters[] = {"a", "b", "/"};
  for (int round = 0; round < 20000; ++round) {
    std::string pattern, name;
    for (auto n = random() % 6; n > 0; --n) {
      const std::string_view part = parts[random() % std::size(parts)];
      if (part == "*" && pattern.ends_with('*')) continue;
      pattern += part;
    }
    for (auto n = random() % 7; n > 0; --n) name += letters[random() % std::size(letters)];
    ASSERT_EQ(glob_matches(pattern, name), plain_match(pattern, name)) << pattern << ", " << name;
    const NamePattern glob = *NamePattern::glob(pattern);
    if (plain_match(pattern, name)) {
      ASSERT_TRUE(name.starts_with(glob.literal_prefix())) << pattern << ", " << name;
    } else if (glob.is_whole_prefix()) {
      ASSERT_FALSE(name.starts_with(glob.literal_prefix())) << pattern << ", " << name;
    }
  }
}

}  // namespace
}  // namespace nmb::tools
