// SharedDefinitions: equal definitions become one, and differences are reported (spec/rationale.md,
// "Shared blocks").
#include "state/shared_definitions.h"

#include <gtest/gtest.h>

#include <bit>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "support/header_bytes.h"

namespace nmb {
namespace {

using test::difference;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Definitions by names.
class Definitions {
 public:
  Definitions& dim(std::string_view name, std::uint64_t length) {
    EXPECT_TRUE(metadata_.def_dim(name, length).ok());
    return *this;
  }
  Definitions& var(std::string_view name, Type type,
                   std::initializer_list<std::string_view> dimensions = {}) {
    std::vector<DimId> ids;
    for (const std::string_view dimension : dimensions)
      ids.push_back(metadata_.find_dimension(dimension).value());
    owner_ = metadata_.def_var(name, type, ids).value();
    return *this;
  }
  // Of the last variable, or of the block before the first.
  Definitions& text(std::string_view name, std::string_view value) {
    EXPECT_TRUE(metadata_.def_att(owner_, name, Type::kChar, bytes(value)).ok());
    return *this;
  }
  Definitions& ints(std::string_view name, const std::vector<int>& values) {
    std::vector<std::byte> external(values.size() * 4);
    for (std::size_t i = 0; i < values.size(); ++i)
      store_be(external.data() + 4 * i, static_cast<std::uint32_t>(values[i]));
    EXPECT_TRUE(metadata_.def_att(owner_, name, Type::kInt, external).ok());
    return *this;
  }
  Definitions& real(std::string_view name, std::uint64_t bits) {
    std::vector<std::byte> external(8);
    store_be(external.data(), bits);
    EXPECT_TRUE(metadata_.def_att(owner_, name, Type::kDouble, external).ok());
    return *this;
  }
  operator const Metadata&() const { return metadata_; }

 private:
  Metadata metadata_;
  VarId owner_ = kGlobal;
};

// The message of the conflict between definitions of ranks 1 and 3.
std::string conflict(const Metadata& first, const Metadata& second) {
  SharedDefinitions block("events");
  const auto ids = block.add(1, first);
  EXPECT_TRUE(ids.ok()) << ids.status().message();
  const auto others = block.add(3, second);
  if (others.ok()) return "none";
  EXPECT_EQ(others.status().code(), Code::kConflict);
  return others.status().message();
}

TEST(SharedDefinitions, IsEmptyWithoutRanks) {
  SharedDefinitions block("events");
  EXPECT_EQ(difference(block.metadata(), Metadata()), "");
  const auto ids = block.add(0, Metadata());
  ASSERT_TRUE(ids.ok());
  EXPECT_TRUE(ids->dimensions.empty());
  EXPECT_TRUE(ids->variables.empty());
}

TEST(SharedDefinitions, KeepsEqualDefinitionsAsTheyAre) {
  Definitions all;
  all.text("title", "run 7").dim("t", kUnlimited).dim("x", 5);
  all.var("energy", Type::kFloat, {"t", "x"}).text("units", "eV").ints("range", {1, 2});
  all.var("count", Type::kInt, {"x", "x"}).var("scalar", Type::kDouble);
  SharedDefinitions block("events");
  for (const int rank : {0, 2, 5}) {
    const auto ids = block.add(rank, all);
    ASSERT_TRUE(ids.ok()) << ids.status().message();
    EXPECT_EQ(ids->dimensions, (std::vector<DimId>{0, 1}));
    EXPECT_EQ(ids->variables, (std::vector<VarId>{0, 1, 2}));
    EXPECT_EQ(difference(block.metadata(), all), "");
  }
}

TEST(SharedDefinitions, AppendsWhatIsNewByRank) {
  Definitions first, second, third, all;
  first.text("title", "a").dim("x", 5).var("pressure", Type::kFloat, {"x"});
  second.text("source", "b").dim("y", 6).dim("x", 5);
  second.var("temperature", Type::kFloat, {"y", "x"}).text("units", "K");
  third.dim("t", kUnlimited).dim("x", 5).var("wind", Type::kInt, {"t", "x"});
  third.var("pressure", Type::kFloat, {"x"});
  all.text("title", "a").text("source", "b").dim("x", 5).dim("y", 6).dim("t", kUnlimited);
  all.var("pressure", Type::kFloat, {"x"});
  all.var("temperature", Type::kFloat, {"y", "x"}).text("units", "K");
  all.var("wind", Type::kInt, {"t", "x"});

  SharedDefinitions block("weather");
  ASSERT_TRUE(block.add(0, first).ok());
  const auto second_ids = block.add(1, second);
  ASSERT_TRUE(second_ids.ok()) << second_ids.status().message();
  EXPECT_EQ(second_ids->dimensions, (std::vector<DimId>{1, 0}));
  EXPECT_EQ(second_ids->variables, (std::vector<VarId>{1}));
  const auto third_ids = block.add(2, third);
  ASSERT_TRUE(third_ids.ok()) << third_ids.status().message();
  EXPECT_EQ(third_ids->dimensions, (std::vector<DimId>{2, 0}));
  EXPECT_EQ(third_ids->variables, (std::vector<VarId>{2, 0}));
  const Metadata taken = std::move(block).take();
  EXPECT_EQ(difference(taken, all), "");
  EXPECT_TRUE(taken.is_record_variable(2));
}

TEST(SharedDefinitions, TakesNamesAndBeginsAsTheyAreFound) {
  Metadata found(Metadata::Names::kAsFound);
  ASSERT_TRUE(found.def_dim("a/b", 2).ok());
  ASSERT_TRUE(found.def_var("\xff", Type::kInt, {}).ok());
  Metadata moved = found;
  moved.set_begin(0, 4096);
  SharedDefinitions block("events");
  ASSERT_TRUE(block.add(0, moved).ok());
  EXPECT_EQ(difference(block.metadata(), found), "");
}

TEST(SharedDefinitions, SeesNoDifferenceInTheOrderOfAttributes) {
  Definitions first, second;
  first.text("a", "1").text("b", "2").var("v", Type::kInt).text("c", "3").ints("d", {4});
  second.text("b", "2").text("a", "1").var("v", Type::kInt).ints("d", {4}).text("c", "3");
  SharedDefinitions block("events");
  ASSERT_TRUE(block.add(0, first).ok());
  ASSERT_TRUE(block.add(1, second).ok());
  EXPECT_EQ(difference(block.metadata(), first), "");
}

TEST(SharedDefinitions, TellsConflictsOfDimensions) {
  EXPECT_EQ(conflict(Definitions().dim("x", 5), Definitions().dim("y", 1).dim("x", 6)),
            "block \"events\": dimension \"x\": length: found 6 on rank 3, expected 5 as on "
            "rank 1");
  EXPECT_EQ(conflict(Definitions().dim("x", 5), Definitions().dim("x", kUnlimited)),
            "block \"events\": dimension \"x\": length: found unlimited on rank 3, expected 5 as "
            "on rank 1");
  EXPECT_EQ(conflict(Definitions().dim("t", kUnlimited), Definitions().dim("t", 7)),
            "block \"events\": dimension \"t\": length: found 7 on rank 3, expected unlimited as "
            "on rank 1");
  EXPECT_EQ(conflict(Definitions().dim("step", kUnlimited), Definitions().dim("time", kUnlimited)),
            "block \"events\": dimensions \"step\" and \"time\": record dimension: found \"time\" "
            "on rank 3, expected \"step\" as on rank 1, a block can have only one");
}

TEST(SharedDefinitions, TellsConflictsOfVariables) {
  const auto energy = [](Type type, std::initializer_list<std::string_view> dimensions) {
    Definitions made;
    made.dim("x", 2).dim("y", 2);
    return made.var("energy", type, dimensions);
  };
  const Definitions first = energy(Type::kFloat, {"x", "y"});
  EXPECT_EQ(conflict(first, energy(Type::kDouble, {"x", "y"})),
            "block \"events\": variable \"energy\": type: found double on rank 3, expected float "
            "as on rank 1");
  EXPECT_EQ(conflict(first, energy(Type::kFloat, {"x"})),
            "block \"events\": variable \"energy\": shape: found 1 dimension on rank 3, expected "
            "2 dimensions as on rank 1");
  EXPECT_EQ(conflict(first, energy(Type::kFloat, {"x", "x"})),
            "block \"events\": variable \"energy\": dimension at index 1: found \"x\" on rank 3, "
            "expected \"y\" as on rank 1");
  Definitions renumbered;
  renumbered.dim("y", 2).dim("x", 2).var("energy", Type::kFloat, {"x", "y"});
  EXPECT_EQ(conflict(first, renumbered), "none");
}

TEST(SharedDefinitions, TellsConflictsOfAttributesOfVariables) {
  const auto with = [] {
    Definitions made;
    return made.text("units", "of the block").var("v", Type::kInt);
  };
  EXPECT_EQ(conflict(with().text("units", "eV"), with().ints("units", {3})),
            "block \"events\": variable \"v\": attribute \"units\": type: found int on rank 3, "
            "expected char as on rank 1");
  EXPECT_EQ(conflict(with().text("units", "eV"), with().text("units", "MeV\n")),
            "block \"events\": variable \"v\": attribute \"units\": values: found \"MeV\\n\" on "
            "rank 3, expected \"eV\" as on rank 1");
  EXPECT_EQ(conflict(with().ints("range", {1, 2}), with().ints("range", {1, -2})),
            "block \"events\": variable \"v\": attribute \"range\": values: found 1, -2 on rank 3, "
            "expected 1, 2 as on rank 1");
  EXPECT_EQ(conflict(with().ints("range", {1, 2}), with().ints("range", {})),
            "block \"events\": variable \"v\": attribute \"range\": values: found no values on "
            "rank 3, expected 1, 2 as on rank 1");
  EXPECT_EQ(conflict(with().text("units", "eV"), with()),
            "block \"events\": variable \"v\": attribute \"units\": found no attribute on rank 3, "
            "expected \"eV\" as on rank 1");
  EXPECT_EQ(conflict(with(), with().ints("range", {1})),
            "block \"events\": variable \"v\": attribute \"range\": found 1 on rank 3, expected no "
            "attribute as on rank 1");
  EXPECT_EQ(conflict(with().text("a", "").text("b", ""), with().text("b", "").text("c", "")),
            "block \"events\": variable \"v\": attribute \"c\": found \"\" on rank 3, expected no "
            "attribute as on rank 1");
}

TEST(SharedDefinitions, TellsConflictsOfAttributesOfTheBlock) {
  EXPECT_EQ(conflict(Definitions().text("title", "run 1"), Definitions().text("title", "run 10")),
            "block \"events\": attribute \"title\": values: found \"run 10\" on rank 3, expected "
            "\"run 1\" as on rank 1");
  EXPECT_EQ(conflict(Definitions().ints("title", {1}), Definitions().text("title", "1")),
            "block \"events\": attribute \"title\": type: found char on rank 3, expected int as on "
            "rank 1");
}

TEST(SharedDefinitions, CutsLongValuesAroundTheFirstDifference) {
  const std::string prefix(300, 'a');
  EXPECT_EQ(conflict(Definitions().text("note", prefix + "b"), Definitions().text("note", prefix)),
            "block \"events\": attribute \"note\": values: found ...\"aaaaaaaaaaaaaaaa\" (300 "
            "bytes) on rank 3, expected ...\"aaaaaaaaaaaaaaaab\" (301 bytes) as on rank 1, the "
            "first difference is at byte 300");
  std::vector<int> many(1000, 1000000), others = many;
  others[700] = 7;
  const std::string message =
      conflict(Definitions().ints("list", many), Definitions().ints("list", others));
  EXPECT_NE(message.find("found ..., 1000000, 1000000, 7, 1000000, "), message.npos) << message;
  EXPECT_NE(message.find(", ... (1000 values) on rank 3"), message.npos) << message;
  EXPECT_NE(message.find(", the first difference is at value 700"), message.npos) << message;
  EXPECT_LT(message.size(), 550u);
  const std::string controls(100000, '\1');
  EXPECT_LT(
      conflict(Definitions().text("note", controls), Definitions().text("note", controls + "\1"))
          .size(),
      550u);
  // Not cut within a character of two bytes.
  std::string accents;
  for (int i = 0; i < 200; ++i) accents += "\u00e9";
  EXPECT_NE(conflict(Definitions().text("note", accents), Definitions().text("note", accents + "e"))
                .find("found ...\"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9e\""),
            std::string::npos);
}

TEST(SharedDefinitions, TellsNaNsApart) {
  EXPECT_EQ(conflict(Definitions().real("missing", 0x7FF8000000000000u),
                     Definitions().real("missing", 0x7FF8000000000001u)),
            "block \"events\": attribute \"missing\": values: found NaN on rank 3, expected NaN as "
            "on rank 1, NaN with different bits");
  EXPECT_EQ(conflict(Definitions().real("missing", std::bit_cast<std::uint64_t>(0.0)),
                     Definitions().real("missing", std::bit_cast<std::uint64_t>(-0.0))),
            "block \"events\": attribute \"missing\": values: found -0. on rank 3, expected 0. as "
            "on rank 1");
}

TEST(SharedDefinitions, NamesTheRankOfTheFirstOccurrence) {
  SharedDefinitions block("events");
  // Ranks 0, 20, .. bring a dimension each, 10, 30, .. a variable, 15, 35, .. nothing new.
  Definitions definitions;
  for (int i = 0; i < 5; ++i) {
    definitions.dim("d" + std::to_string(i), 1);
    ASSERT_TRUE(block.add(20 * i, definitions).ok());
    definitions.var("v" + std::to_string(i), Type::kInt);
    ASSERT_TRUE(block.add(20 * i + 10, definitions).ok());
    ASSERT_TRUE(block.add(20 * i + 15, definitions).ok());
  }
  for (int i = 0; i < 5; ++i) {
    SharedDefinitions copy = block;
    std::string message =
        copy.add(100, Definitions().dim("d" + std::to_string(i), 2)).status().message();
    EXPECT_TRUE(message.ends_with("as on rank " + std::to_string(20 * i))) << message;
    copy = block;
    message =
        copy.add(100, Definitions().var("v" + std::to_string(i), Type::kByte)).status().message();
    EXPECT_TRUE(message.ends_with("as on rank " + std::to_string(20 * i + 10))) << message;
  }
  SharedDefinitions attributes("events");
  for (const int rank : {4, 7, 9})
    ASSERT_TRUE(attributes.add(rank, Definitions().ints("a" + std::to_string(rank), {rank})).ok());
  const std::string message = attributes.add(11, Definitions().ints("a7", {1})).status().message();
  EXPECT_TRUE(message.ends_with("found 1 on rank 11, expected 7 as on rank 7")) << message;
}

// So many that names are looked up some definitions later (spec/rationale.md, "Creating many
// objects").
TEST(SharedDefinitions, FindsEachOfVeryManyNames) {
  constexpr std::uint32_t kCount = 70000;
  Metadata forwards, backwards;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(forwards.def_dim("d" + std::to_string(i), 1 + i).ok());
    ASSERT_TRUE(backwards.def_dim("d" + std::to_string(kCount - i), 1 + kCount - i).ok());
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(forwards.def_var("v" + std::to_string(i), Type::kInt, std::vector<DimId>{i}).ok());
    ASSERT_TRUE(
        backwards.def_var("v" + std::to_string(kCount - i), Type::kInt, std::vector<DimId>{i})
            .ok());
  }
  SharedDefinitions block("events");
  ASSERT_TRUE(block.add(0, forwards).ok());
  const auto ids = block.add(1, backwards);
  ASSERT_TRUE(ids.ok()) << ids.status().message();
  ASSERT_EQ(block.metadata().variable_count(), kCount + 1);
  ASSERT_EQ(block.metadata().dimension_count(), kCount + 1);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const std::uint32_t id = i == 0 ? kCount : kCount - i;
    ASSERT_EQ(ids->dimensions[i], id);
    ASSERT_EQ(ids->variables[i], id);
    ASSERT_EQ(block.metadata().variable(id).dimensions[0], id);
  }
}

}  // namespace
}  // namespace nmb
