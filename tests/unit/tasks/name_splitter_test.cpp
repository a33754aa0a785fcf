// Dividing names by a regular expression: a name that begins as the one before is divided without
// matching, but only where that can make no difference.
#include "merge/dividing/name_splitter.h"

#include <gtest/gtest.h>

#include <random>

namespace nmb {
namespace {

NameSplitter splitter(const std::string& expression) {
  Result<NameSplitter> compiled = NameSplitter::compile(expression);
  EXPECT_TRUE(compiled.ok()) << compiled.status().text();
  return std::move(compiled).value();
}

std::string divided(NameSplitter& by, std::string_view name) {
  Result<std::optional<SplitName>> parts = by.split(name);
  if (!parts.ok()) return parts.status().text();
  if (!*parts) return "no match";
  return std::string((*parts)->group) + " | " + std::string((*parts)->rest);
}

TEST(NameSplitter, DividesByTheFirstCapture) {
  NameSplitter by = splitter("^_grp_(r[0-9]+_evt[0-9]+)_");
  EXPECT_EQ(divided(by, "_grp_r1_evt22_x"), "r1_evt22 | x");
  EXPECT_EQ(divided(by, "_grp_r1_evt2_x"), "r1_evt2 | x");
  EXPECT_EQ(divided(by, "_grp_r1_x"), "no match");
  EXPECT_EQ(divided(by, ""), "no match");
  EXPECT_EQ(NameSplitter::compile("a(").status().code(), Code::kUsage);
  EXPECT_EQ(NameSplitter::compile("a").status().code(), Code::kUsage);
}

TEST(NameSplitter, ReturnsAllCaptures) {
  using Captures = NameSplitter::Captures;
  NameSplitter by = splitter("(a)(b)?(c)?(d*)(e)?");
  EXPECT_EQ(by.count(), 5u);
  EXPECT_EQ(*by.captures("xacx"), (Captures{"a", std::nullopt, "c", "", std::nullopt}));
  EXPECT_EQ(*by.captures("abe"), (Captures{"a", "b", std::nullopt, "", "e"}));
  EXPECT_EQ(*by.captures("x"), Captures());
  EXPECT_EQ(divided(by, "abx"), "a | x");
  EXPECT_EQ(*by.captures("a"), (Captures{"a", std::nullopt, std::nullopt, "", std::nullopt}));
}

TEST(NameSplitter, MatchesCharacters) {
  NameSplitter two = splitter("^(..)_?");
  EXPECT_EQ(divided(two, "\u00e91_t"), "\u00e91 | t");
  EXPECT_EQ(divided(two, "\u65e5\u672c_t"), "\u65e5\u672c | t");
  EXPECT_EQ(divided(two, "\u65e5\u672ct"), "\u65e5\u672c | t");
  // No character matches a byte that is not UTF-8.
  EXPECT_EQ(divided(two, "\xff\u00e91_t"), "no match");
  EXPECT_EQ(NameSplitter::compile("(\\C)").status().code(), Code::kUsage);
}

TEST(NameSplitter, MatchesOncePerGroup) {
  NameSplitter by = splitter("^_grp_(r[0-9]+_evt[0-9]+)_");
  for (int group = 0; group < 10; ++group)
    for (int i = 0; i < 16; ++i)
      divided(by, "_grp_r0_evt" + std::to_string(group) + "_v" + std::to_string(i));
  EXPECT_EQ(by.alike(), 10u * 15u);
  // What follows decides how much is taken.
  NameSplitter greedy = splitter("^(.*)_");
  for (int i = 0; i < 16; ++i) divided(greedy, "a_b" + std::to_string(i));
  EXPECT_EQ(greedy.alike(), 0u);
}

TEST(NameSplitter, DividesEachNameAsIfItWereTheFirst) {
  const std::vector<std::string> expressions = {
      "^(a)",          "^(a+)",         "^(a+?)",        "(a|ab)",        "^(.*)_",
      "^(.*?)_",       "^(a*)(b?)",     "(b)_",          "^(a)(?=b)",     "^(a)(?!b)",
      "(?<=(a))",      "(?<=(a))(?!b)", "(?<=a)(b)",     "(?<!a)(b)",     "^(\\w)\\b",
      "(a)$",          "(a)\\z",        "^()a",          "^(a(?:b|$))",   "(a)(?=(_)?)",
      "^(?=(a_)?)a",   "(\\d+)_",       "^(a_\\d+)_",    "(a)\\K_",       "^a_(b|ba)_?",
      "(?:^|_)(1+)_?", "^(a(?1)?b)",    "^((?>a+))b",    "^(a)(*ACCEPT)", "(?i)^(A)_",
      "(_)(?:a|$)",    "^(.)\\1",       "(a)(?<=ba)",    "^(.{2})",       "^(?:(b)|a)_",
      "(1)(?=.*b)",    "^(a|b|_|1)++",  "(?|(a)_|(b)1)", "^(a)\\B",
  };
  std::mt19937 random(7);
  for (const std::string& expression : expressions) {
    NameSplitter kept = splitter(expression);
    std::string name;
    for (int round = 0; round < 500; ++round) {
      // Often a name with the beginning of the one before.
      name.resize(random() % 3 == 0 ? 0 : random() % (name.size() + 1));
      for (auto more = random() % 5; more > 0; --more) name += "ab_1"[random() % 4];
      NameSplitter fresh = splitter(expression);
      ASSERT_EQ(divided(kept, name), divided(fresh, name)) << expression << " on " << name;
    }
  }
}

}  // namespace
}  // namespace nmb
