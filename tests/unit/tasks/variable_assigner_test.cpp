// Blocks that variables go to.
#include "merge/dividing/variable_assigner.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace nmb {
namespace {

using By = BlockRule::By;

void put_text(Metadata* metadata, VarId owner, std::string_view name, std::string_view text) {
  EXPECT_TRUE(metadata->put_att(owner, name, Type::kChar, std::as_bytes(std::span(text))).ok());
}

template <std::size_t n>
void put_bytes(Metadata* metadata, VarId owner, std::string_view name, Type type,
               const std::array<unsigned char, n>& bytes) {
  EXPECT_TRUE(metadata->put_att(owner, name, type, std::as_bytes(std::span(bytes))).ok());
}

Metadata variables(std::initializer_list<const char*> names) {
  Metadata out;
  for (const char* name : names) EXPECT_TRUE(out.def_var(name, Type::kInt, {}).ok());
  return out;
}

Result<VariableAssigner> assigner(std::string_view text) {
  NMB_ASSIGN(BlockRule rule, BlockRule::try_parse(text));
  return VariableAssigner::make(std::move(rule));
}

// "GROUP:NAME" of each variable, "-" where it stays, "!WHAT" where its value is no name.
std::vector<std::string> places(std::string_view text, const Metadata& metadata) {
  Result<VariableAssigner> rule = assigner(text);
  EXPECT_TRUE(rule.ok()) << rule.status().text();
  rule->begin();
  std::vector<std::string> out;
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const auto parts = rule->of(metadata, v);
    if (!parts.ok())
      out.push_back("!" + parts.status().message());
    else if (!*parts)
      out.push_back("-");
    else
      out.push_back(std::string((*parts)->group) + ":" + std::string((*parts)->rest));
  }
  return out;
}

using Places = std::vector<std::string>;

TEST(VariableAssigner, HasSixForms) {
  const std::pair<const char*, By> forms[] = {{"", By::kGroup},
                                              {"group", By::kGroup},
                                              {"prefix:^(a)_", By::kPrefix},
                                              {"vars:3", By::kCount},
                                              {"one", By::kOne},
                                              {"dim:time", By::kDimension},
                                              {"key:source", By::kAttribute}};
  for (const auto& [text, by] : forms) {
    const Result<VariableAssigner> rule = assigner(text);
    ASSERT_TRUE(rule.ok()) << text;
    EXPECT_EQ(rule->by(), by) << text;
    EXPECT_EQ(rule->names_object(), by == By::kDimension || by == By::kAttribute) << text;
  }
}

TEST(VariableAssigner, RefusesAllElse) {
  for (const char* text :
       {"groups", "one ", "prefix:", "prefix:(", "prefix:abc", "vars:", "vars:0", "vars:-1",
        "vars:2x", "vars:99999999999999999999", "dim:", "key:", "time"}) {
    const Result<VariableAssigner> rule = assigner(text);
    EXPECT_EQ(rule.status().code(), Code::kUsage) << text;
  }
}

TEST(VariableAssigner, PrefixGivesGroupAndRest) {
  EXPECT_EQ(places("prefix:^g_([a-z]*)_", variables({"g_a_x", "g_b_", "y", "g__x"})),
            (Places{"a:x", "b:", "-", "-"}));
}

TEST(VariableAssigner, CountNumbersBlocksWithAsManyDigits) {
  EXPECT_EQ(places("vars:2", variables({"a", "b", "c", "d"})),
            (Places{"0:a", "0:b", "1:c", "1:d"}));
  Metadata many;
  for (int i = 0; i < 11; ++i)
    ASSERT_TRUE(many.def_var("v" + std::to_string(i), Type::kInt, {}).ok());
  const Places found = places("vars:1", many);
  EXPECT_EQ(found.front(), "00:v0");
  EXPECT_EQ(found.back(), "10:v10");
}

TEST(VariableAssigner, AttributeGivesTextAndIntegers) {
  Metadata metadata = variables({"a", "b", "c", "d", "e", "f", "g"});
  put_text(&metadata, 0, "k", std::string_view("sea\0\0", 5));
  put_bytes<4>(&metadata, 1, "k", Type::kShort, {0, 7, 0xFF, 0xFE});
  put_bytes<8>(&metadata, 2, "k", Type::kUInt64, {0xFF, 0, 0, 0, 0, 0, 0, 0});
  put_bytes<4>(&metadata, 3, "k", Type::kFloat, {0, 0, 0, 0});
  put_text(&metadata, 4, "k", "");
  put_bytes<0>(&metadata, 5, "k", Type::kInt, {});
  EXPECT_EQ(places("key:k", metadata),
            (Places{"sea:a", "7,-2:b", "18374686479671623680:c", "!floating point (float)",
                    "!an empty text", "!no value", "-"}));
}

TEST(VariableAssigner, AttributeOfADataset) {
  Metadata metadata = variables({"a"});
  const Result<VariableAssigner> rule = assigner("key:k");
  ASSERT_TRUE(rule.ok());
  EXPECT_EQ(*rule->of_dataset(metadata), std::nullopt);
  put_text(&metadata, kGlobal, "k", "sea/north");
  EXPECT_EQ(*rule->of_dataset(metadata), "sea/north");
  put_bytes<8>(&metadata, kGlobal, "k", Type::kDouble, {});
  EXPECT_EQ(rule->of_dataset(metadata).status().code(), Code::kConflict);
}

TEST(VariableAssigner, ConcernsWhatItMoves) {
  Metadata metadata = variables({"g_a_x", "y"});
  const DimId time = *metadata.def_dim("time", 3);
  ASSERT_TRUE(metadata.def_var("z", Type::kInt, std::array{time}).ok());
  put_bytes<8>(&metadata, 1, "k", Type::kDouble, {});
  const auto concerned = [&](const char* text) {
    Result<VariableAssigner> rule = assigner(text);
    EXPECT_TRUE(rule.ok());
    std::string out;
    for (VarId v = 0; v < 3; ++v) out += *rule->concerns(metadata, v) ? '1' : '0';
    return out;
  };
  EXPECT_EQ(concerned("prefix:^g_([a-z])_"), "100");
  EXPECT_EQ(concerned("key:k"), "010");
  EXPECT_EQ(concerned("dim:time"), "001");
  EXPECT_EQ(concerned("vars:2"), "111");
}

TEST(VariableAssigner, CutsNamesOfDimensionsByPrefixAlone) {
  Result<VariableAssigner> prefix = assigner("prefix:^g_([a-z])_");
  ASSERT_TRUE(prefix.ok());
  EXPECT_EQ(*prefix->cut("g_a_x"), "x");
  EXPECT_EQ(*prefix->cut("g_a_"), "g_a_");
  EXPECT_EQ(*prefix->cut("x"), "x");
  Result<VariableAssigner> count = assigner("vars:1");
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count->cut("g_a_x"), "g_a_x");
}

TEST(VariableAssigner, PadsPositions) {
  EXPECT_EQ(padded_position(0, 1), "0");
  EXPECT_EQ(padded_position(9, 10), "9");
  EXPECT_EQ(padded_position(9, 11), "09");
  EXPECT_EQ(padded_position(120, 12345), "00120");
}

}  // namespace
}  // namespace nmb
