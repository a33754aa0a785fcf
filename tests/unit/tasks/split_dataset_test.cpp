// Division of a dataset into blocks: which definitions go where, and where values lie.
#include "merge/dividing/split_dataset.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "merge/storing/output_part.h"
#include "sources/value_source.h"
#include "support/dataset.h"

namespace nmb {
namespace {

class SplitDatasetTest : public testing::Test {
 protected:
  DimId dimension(const char* name, std::uint64_t length) {
    return *definitions_.def_dim(name, length);
  }
  VarId variable(const char* name, Type type, std::initializer_list<DimId> dimensions) {
    return *definitions_.def_var(name, type,
                                 std::vector<DimId>(dimensions.begin(), dimensions.end()));
  }
  void text(VarId owner, const char* name, std::string_view value) {
    ASSERT_TRUE(
        definitions_.put_att(owner, name, Type::kChar, std::as_bytes(std::span(value))).ok());
  }

  // Each byte of the values tells its place: found again, it came from there.
  void divide(const std::string& rule, std::uint64_t records = 0, bool keep_unmatched = true) {
    dataset_ = test::make_dataset(std::move(definitions_), Kind::kCdf2, records);
    for (std::size_t i = 0; i < dataset_.values.size(); ++i)
      dataset_.values[i] = static_cast<std::byte>(i * 31 % 251);
    Result<VariableAssigner> assigner = VariableAssigner::make(BlockRule::parse(rule));
    ASSERT_TRUE(assigner.ok()) << assigner.status().text();
    SplitDataset splitter(
        std::move(*assigner), keep_unmatched,
        [this](DatasetPart part) {
          take(std::move(part));
          return Status();
        },
        [this](SplitConflict conflict) {
          conflicts_.push_back(std::string(conflict_name(conflict.kind)) + " " +
                               conflict.group.value_or("-") + " " + conflict.object + ": " +
                               conflict.found);
        });
    const SplitDataset::Input input{dataset_.metadata, dataset_.layout, records, 1000};
    Result<bool> sorted = splitter.sort(input);
    status_ = sorted.status();
    if (!status_.ok()) return;
    moves_ = *sorted;
    if (moves_) status_ = splitter.make(input);
  }

  // "VARIABLE(DIMENSION=LENGTH,...)" of a part, in order; "DIMENSION=LENGTH" of those that no
  // variable uses; "@NAME" of global attributes.
  void take(DatasetPart part) {
    const Metadata& m = part.metadata;
    std::string described = part.is_whole ? "" : "incomplete ";
    std::vector<bool> used(m.dimension_count());
    auto named = [&](DimId id) {
      const Dimension d = m.dimension(id);
      used[id] = true;
      return std::string(d.name) + "=" + (d.is_record() ? "*" : std::to_string(d.length));
    };
    for (VarId v = 0; v < m.variable_count(); ++v) {
      described += std::string(m.variable(v).name) + "(";
      for (const DimId id : m.variable(v).dimensions) described += named(id) + ",";
      if (described.back() == ',') described.pop_back();
      described += ") ";
    }
    for (DimId id = 0; id < m.dimension_count(); ++id)
      if (!used[id]) described += named(id) + " ";
    m.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
      described += "@" + std::string(attribute.name) + " ";
    });
    if (!described.empty()) described.pop_back();
    parts_.emplace_back(part.group, described);
    if (part.is_whole) keep_values(part);
  }

  // The part's values as its block will have them, by variable.
  void keep_values(const DatasetPart& part) {
    test::ClassicDataset made = test::make_dataset(part.metadata, Kind::kCdf5, part.records);
    const OutputPart block{0, 0, part.begins, part.record_size, false};
    const ValueSource source(form::Strided{
        dataset_.extent(), runs_of(block, made.metadata, made.layout), made.values.size()});
    ASSERT_TRUE(source.read_at(0, made.values).ok());
    for (VarId v = 0; v < made.metadata.variable_count(); ++v)
      values_[std::string(part.group) + "/" + std::string(made.metadata.variable(v).name)] =
          test::values_of(made, v);
  }

  std::vector<std::byte> source_values(VarId v) { return test::values_of(dataset_, v); }

  using Parts = std::vector<std::pair<std::string, std::string>>;
  using Lines = std::vector<std::string>;

  Metadata definitions_;
  test::ClassicDataset dataset_;
  Status status_;
  bool moves_ = false;
  Parts parts_;
  Lines conflicts_;
  std::map<std::string, std::vector<std::byte>> values_;
};

TEST_F(SplitDatasetTest, PrefixCutsNamesAndLeavesTheRest) {
  const DimId time = dimension("time", kUnlimited), x = dimension("g_a_x", 3);
  dimension("unused", 4);
  const VarId t = variable("g_a_t", Type::kShort, {time, x});
  const VarId u = variable("g_b_t", Type::kByte, {time});
  const VarId s = variable("g_a_s", Type::kInt, {});
  const VarId alone = variable("alone", Type::kByte, {time, x});
  text(kGlobal, "history", "made");
  text(t, "units", "m");
  divide("prefix:^g_([a-z])_", 5);
  ASSERT_TRUE(status_.ok()) << status_.text();
  EXPECT_EQ(parts_, (Parts{{"", "alone(time=*,g_a_x=3) unused=4 @history"},
                           {"a", "t(time=*,x=3) s()"},
                           {"b", "t(time=*)"}}));
  EXPECT_TRUE(conflicts_.empty());
  EXPECT_EQ(values_["a/t"], source_values(t));
  EXPECT_EQ(values_["b/t"], source_values(u));
  EXPECT_EQ(values_["a/s"], source_values(s));
  EXPECT_EQ(values_["/alone"], source_values(alone));
}

TEST_F(SplitDatasetTest, PrefixClashes) {
  const DimId own = dimension("g_a_x", 2), x = dimension("x", 3);
  variable("g_a_u", Type::kInt, {own, x});
  variable("g_b_v", Type::kInt, {});
  variable("h_b_v", Type::kInt, {});
  variable("g_c_", Type::kInt, {});
  variable("other", Type::kInt, {});
  divide("prefix:^[gh]_([a-z])_", 0, false);
  EXPECT_EQ(conflicts_,
            (Lines{"unmatched variable - other: a name that the expression does not match",
                   "dimension name a x: two objects with this name",
                   "variable name b v: two objects with this name",
                   "variable name c : an illegal name"}));
}

TEST_F(SplitDatasetTest, NothingThatMatchesStaysWhole) {
  variable("a", Type::kInt, {});
  text(kGlobal, "history", "made");
  divide("prefix:^(g)_");
  EXPECT_TRUE(status_.ok());
  EXPECT_FALSE(moves_);
  EXPECT_TRUE(parts_.empty());
}

TEST_F(SplitDatasetTest, CountTakesVariablesInOrder) {
  const DimId time = dimension("time", kUnlimited), x = dimension("x", 2);
  const VarId a = variable("a", Type::kInt, {x});
  variable("b", Type::kInt, {time});
  variable("c", Type::kInt, {x});
  const VarId d = variable("d", Type::kInt, {});
  text(kGlobal, "history", "made");
  divide("vars:2", 3);
  EXPECT_EQ(parts_, (Parts{{"", "@history"}, {"0", "a(x=2) b(time=*)"}, {"1", "c(x=2) d()"}}));
  EXPECT_EQ(values_["0/a"], source_values(a));
  EXPECT_EQ(values_["1/d"], source_values(d));
}

TEST_F(SplitDatasetTest, CountWithARemainder) {
  for (const char* name : {"a", "b", "c"}) variable(name, Type::kInt, {});
  divide("vars:2");
  EXPECT_EQ(conflicts_, Lines{"variables - : 3 variables"});
}

TEST_F(SplitDatasetTest, CountWithoutVariables) {
  text(kGlobal, "history", "made");
  divide("vars:2");
  EXPECT_FALSE(moves_);
}

TEST_F(SplitDatasetTest, AttributeGathersWhatHasOneValue) {
  for (const char* name : {"a", "b", "c", "d"}) variable(name, Type::kInt, {});
  text(0, "k", "y");
  text(1, "k", "x");
  text(3, "k", "y");
  divide("key:k");
  EXPECT_EQ(parts_, (Parts{{"", "c()"}, {"y", "a() d()"}, {"x", "b()"}}));
}

TEST_F(SplitDatasetTest, AttributeThatIsNoName) {
  for (const char* name : {"a", "b"}) variable(name, Type::kInt, {});
  text(0, "k", "y");
  const std::byte real[8] = {};
  ASSERT_TRUE(definitions_.put_att(1, "k", Type::kDouble, real).ok());
  divide("key:k");
  EXPECT_EQ(conflicts_, Lines{"attribute value - b@k: floating point (double)"});
}

// The slice of an array of `count` at `index`.
std::vector<std::byte> slice(const std::vector<std::byte>& values, std::size_t count,
                             std::size_t index) {
  const auto length = static_cast<std::ptrdiff_t>(values.size() / count);
  const auto first = values.begin() + length * static_cast<std::ptrdiff_t>(index);
  return {first, first + length};
}

TEST_F(SplitDatasetTest, FixedDimensionMakesABlockAnIndex) {
  const DimId y = dimension("y", 11), x = dimension("x", 3);
  const VarId a = variable("a", Type::kShort, {y, x});
  const VarId b = variable("b", Type::kByte, {x});
  const VarId own = variable("y", Type::kByte, {y});
  text(a, "units", "m");
  divide("dim:y");
  ASSERT_EQ(parts_.size(), 12U);
  EXPECT_EQ(parts_[0], (Parts::value_type{"", "b(x=3)"}));
  EXPECT_EQ(parts_[1], (Parts::value_type{"y/00", "a(x=3) y()"}));
  EXPECT_EQ(parts_[11].first, "y/10");
  EXPECT_EQ(values_["/b"], source_values(b));
  for (std::size_t i = 0; i < 11; ++i) {
    const std::string group = parts_[i + 1].first;
    EXPECT_EQ(values_[group + "/a"], slice(source_values(a), 11, i)) << i;
    EXPECT_EQ(values_[group + "/y"], slice(source_values(own), 11, i)) << i;
  }
}

TEST_F(SplitDatasetTest, RecordDimensionMakesABlockARecord) {
  const DimId time = dimension("time", kUnlimited), x = dimension("x", 3);
  const VarId a = variable("a", Type::kByte, {time, x});
  const VarId b = variable("b", Type::kDouble, {time});
  variable("c", Type::kInt, {x});
  divide("dim:time", 4);
  ASSERT_EQ(parts_.size(), 5U);
  EXPECT_EQ(parts_[0].second, "c(x=3)");
  EXPECT_EQ(parts_[1], (Parts::value_type{"time/0", "a(x=3) b()"}));
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string group = "time/" + std::to_string(i);
    EXPECT_EQ(values_[group + "/a"], slice(source_values(a), 4, i));
    EXPECT_EQ(values_[group + "/b"], slice(source_values(b), 4, i));
  }
}

TEST_F(SplitDatasetTest, OneRecordVariableLiesWithoutPadding) {
  const DimId time = dimension("time", kUnlimited);
  const VarId a = variable("a", Type::kShort, {time});
  divide("dim:time", 3);
  ASSERT_EQ(parts_.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(values_["time/" + std::to_string(i) + "/a"], slice(source_values(a), 3, i));
}

TEST_F(SplitDatasetTest, DimensionThatIsNotTheFirst) {
  const DimId x = dimension("x", 2), y = dimension("y", 3);
  variable("a", Type::kInt, {y, x});
  variable("b", Type::kInt, {x});
  variable("c", Type::kInt, {x, x});
  divide("dim:x");
  EXPECT_EQ(conflicts_, (Lines{"variable - a: dimension \"x\" at position 1",
                               "variable - c: dimension \"x\" at position 1"}));
}

TEST_F(SplitDatasetTest, DimensionThatIsNotThere) {
  dimension("x", 2);
  variable("a", Type::kInt, {});
  divide("dim:x");
  EXPECT_FALSE(moves_);
  EXPECT_TRUE(status_.ok());
}

TEST_F(SplitDatasetTest, DimensionWithoutIndexes) {
  const DimId time = dimension("time", kUnlimited);
  variable("a", Type::kInt, {time});
  divide("dim:time", 0);
  EXPECT_EQ(conflicts_, Lines{"dimension - time: length 0"});
}

TEST_F(SplitDatasetTest, DimensionOfMoreIndexesThanBlocksAreAllowed) {
  const DimId y = dimension("y", 1001);
  variable("a", Type::kByte, {y});
  divide("dim:y");
  EXPECT_EQ(status_.code(), Code::kLimit);
}

TEST_F(SplitDatasetTest, NoRecords) {
  const DimId time = dimension("time", kUnlimited);
  variable("g_a_t", Type::kInt, {time});
  const VarId n = variable("g_a_n", Type::kInt, {});
  divide("prefix:^g_([a-z])_", 0);
  EXPECT_EQ(parts_, (Parts{{"a", "t(time=*) n()"}}));
  EXPECT_TRUE(values_["a/t"].empty());
  EXPECT_EQ(values_["a/n"], source_values(n));
}

}  // namespace
}  // namespace nmb
