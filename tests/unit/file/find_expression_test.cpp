// Expressions that find blocks: their results, and texts that are not expressions.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "find/find.h"

namespace nmb {
namespace {

using Values = std::map<std::string, FindValue>;

FindValue exact(long double number) { return FindNumber{number, number}; }

// Returns "true", "false", "unknown", or the error.
std::string says(std::string_view text, const Values& values = {}) {
  const Result<FindExpression> expression = FindExpression::parse(text);
  if (!expression.ok()) return expression.status().message();
  std::vector<FindExpression::Met> met(expression->parts());
  const auto holds = expression->holds(
      [&](std::size_t i) -> Result<std::optional<FindValue>> {
        const auto found = values.find(expression->names()[i].text);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      },
      &met);
  if (!holds.ok()) return holds.status().message();
  if (const std::string problem = expression->type_problem(met); !problem.empty()) return problem;
  return !*holds ? "unknown" : **holds ? "true" : "false";
}

TEST(FindExpression, ComparesNumbersExactly) {
  const Values values{{"x.max", exact(9223372036854775807.0L)},
                      {"y.max", exact(18446744073709551615.0L)}};
  EXPECT_EQ(says("x.max == 9223372036854775807", values), "true");
  EXPECT_EQ(says("x.max > 9223372036854775806", values), "true");
  EXPECT_EQ(says("x.max >= 9223372036854775808", values), "false");
  EXPECT_EQ(says("y.max < 18446744073709551616", values), "true");
  EXPECT_EQ(says("1 < 2"), "true");
  EXPECT_EQ(says("-1.5e3 != -1500"), "false");
  EXPECT_EQ(says("'a' < \"b\""), "true");
}

TEST(FindExpression, RoundsNumbersThatAreNoIntegers) {
  using Form = FindNumber::Form;
  const long double single = 0.1f, large = 1e11f;
  const Values values{{"d", exact(0.1)},
                      {"f", FindNumber{single, single, Form::kFloat}},
                      {"g", FindNumber{large, large, Form::kFloat}},
                      {"i", exact(9007199254740993.0L)}};
  EXPECT_EQ(says("d == 0.1 && f == 0.1 && 0.1 == f", values), "true");
  EXPECT_EQ(says("f <= 0.1 && f >= 0.1", values), "true");
  EXPECT_EQ(says("d < f", values), "true");
  EXPECT_EQ(says("g == 1e11", values), "true");
  EXPECT_EQ(says("g == 100000000000", values), "false");
  EXPECT_EQ(says("f < 1e300 && f > -1e300", values), "true");
  EXPECT_EQ(says("i == 9007199254740993", values), "true");
  EXPECT_EQ(says("i == 9007199254740993.0", values), "false");
  const auto expression = *FindExpression::parse("any(v < 0.5) || any(v < 3)");
  EXPECT_FALSE(expression.names()[0].condition.is_integer);
  EXPECT_TRUE(expression.names()[1].condition.is_integer);
}

TEST(FindExpression, JoinsInTheUsualOrder) {
  EXPECT_EQ(says("1 == 1 || 1 == 2 && 1 == 3"), "true");
  EXPECT_EQ(says("(1 == 1 || 1 == 2) && 1 == 3"), "false");
  EXPECT_EQ(says("!1 == 2 && !(1 == 2)"), "true");
  EXPECT_EQ(says("!!1==1"), "true");
}

TEST(FindExpression, NothingIsNeitherTrueNorFalse) {
  EXPECT_EQ(says("a > 1"), "unknown");
  EXPECT_EQ(says("!(a > 1)"), "unknown");
  EXPECT_EQ(says("a > 1 || 1 == 1"), "true");
  EXPECT_EQ(says("a > 1 && 1 == 2"), "false");
  EXPECT_EQ(says("a > 1 && 1 == 1"), "unknown");
}

TEST(FindExpression, ANumberWithinBoundsMayDecide) {
  const Values values{{"count(v > 1)", FindNumber{3, 5}}, {"count(v < 1)", FindNumber{5, 9}}};
  EXPECT_EQ(says("count(v > 1) >= 3", values), "true");
  EXPECT_EQ(says("count(v > 1) > 3", values), "unknown");
  EXPECT_EQ(says("count(v > 1) > 5", values), "false");
  EXPECT_EQ(says("2 < count(v > 1)", values), "true");
  EXPECT_EQ(says("5 <= count(v > 1)", values), "unknown");
  EXPECT_EQ(says("count(v > 1) == 4", values), "unknown");
  EXPECT_EQ(says("count(v > 1) != 6", values), "true");
  EXPECT_EQ(says("count(v > 1) == 2", values), "false");
  EXPECT_EQ(says("count(v > 1) <= count(v < 1)", values), "true");
  EXPECT_EQ(says("count(v > 1) < count(v < 1)", values), "unknown");
  EXPECT_EQ(says("count(v > 1) > count(v < 1)", values), "false");
  EXPECT_EQ(says("count(v > 1) == count(v < 1)", values), "unknown");
  EXPECT_EQ(says("any(v > 1)", {{"any(v > 1)", FindNumber{1, 2}}}), "true");
  EXPECT_EQ(says("any(v > 1)", {{"any(v > 1)", FindNumber{0, 2}}}), "unknown");
  EXPECT_EQ(says("all(v > 1)", {{"all(v > 1)", FindNumber{0, 0}}}), "true");
  EXPECT_EQ(says("!all(v > 1)", {{"all(v > 1)", FindNumber{1, 2}}}), "true");
}

TEST(FindExpression, CountsValuesThatMatch) {
  const auto expression = *FindExpression::parse("all( `a b` <= -1.5e3 ) && any (v==2)||any == 1");
  const auto& names = expression.names();
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0].kind, FindName::Kind::kCount);
  EXPECT_EQ(names[0].variable, "a b");
  EXPECT_EQ(names[0].condition, (ValueCondition{Comparison::kMore, -1500, false}));
  EXPECT_EQ(names[0].text, "all( `a b` <= -1.5e3 )");
  EXPECT_EQ(names[1].condition, (ValueCondition{Comparison::kEqual, 2}));
  EXPECT_EQ(names[2].kind, FindName::Kind::kBlockAttribute);
  EXPECT_EQ(names[2].name, "any");
  EXPECT_EQ((*FindExpression::parse("count(v<1)>count(v<1)&&count(v<1)==2")).names().size(), 1u);
}

TEST(FindExpression, KnowsNamesByTheirKind) {
  const auto expression = *FindExpression::parse(
      "run == 1 && tas@units == 'K' && `a.b c`.min > run && tas.min > 2 && tas.sum > 1");
  const auto& names = expression.names();
  ASSERT_EQ(names.size(), 5u);
  EXPECT_EQ(names[0].kind, FindName::Kind::kBlockAttribute);
  EXPECT_EQ(names[1].kind, FindName::Kind::kVariableAttribute);
  EXPECT_EQ(names[1].variable, "tas");
  EXPECT_EQ(names[2].kind, FindName::Kind::kStatistic);
  EXPECT_EQ(names[2].variable, "a.b c");
  EXPECT_EQ(names[3].name, "min");
  EXPECT_EQ(names[4].kind, FindName::Kind::kFunction);
  EXPECT_EQ(names[4].name, "sum");
}

TEST(FindExpression, TellsWhatIsNone) {
  for (const char* text : {"",
                           "a",
                           "a >",
                           "> 1",
                           "a > 1 &&",
                           "(a > 1",
                           "a > 1)",
                           "a = 1",
                           "'a > 1",
                           "any(a > 1",
                           "any(a)",
                           "count(a > 1)",
                           "any(1 < a)",
                           "any(a < nan)",
                           "any(a < inf)",
                           "a < 1e5000",
                           "a < +nan",
                           "a < -nan(1)",
                           "any(a > b)",
                           "any(a > 'x')",
                           "all(a@b > 1)",
                           "any(a > 1) > 1",

                           "`a > 1",
                           "a > 1x",
                           "a..min > 1",
                           "!",
                           "a > b c",
                           "@a > 1"})
    EXPECT_TRUE(says(text).starts_with("expression: at ")) << text << ": " << says(text);
  EXPECT_TRUE(says(std::string(100000, '(') + "1 == 1").starts_with("expression: at "));
  EXPECT_TRUE(says(std::string(100000, '!') + "1 == 1").starts_with("expression: at "));
  EXPECT_TRUE(says("1 == 'a'").starts_with("cannot compare a number with text"));
}

}  // namespace
}  // namespace nmb
