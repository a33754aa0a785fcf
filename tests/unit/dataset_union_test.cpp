// Several datasets as one: names that are one, names that clash, and where values lie.
#include "merge/dataset_union.h"

#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "support/dataset.h"

namespace nmb {
namespace {

class DatasetUnionTest : public testing::Test {
 protected:
  // A group whose values count on from those of the groups before.
  void add(const std::string& group, Metadata metadata, std::uint64_t records = 0) {
    test::Dataset made = test::make_dataset(std::move(metadata), Kind::kCdf1, records);
    for (std::byte& value : made.values) value = static_cast<std::byte>(next_++ % 251);
    kept_.push_back(std::move(made));
    nmb::Dataset dataset;
    dataset.metadata = kept_.back().metadata;
    dataset.layout = kept_.back().layout;
    dataset.records = records;
    ASSERT_TRUE(union_.add(group, dataset, kept_.back().extent()).ok());
  }

  // The values of a variable of the union.
  std::vector<std::byte> values(const nmb::Dataset& all, const char* name) {
    test::Dataset whole{all.metadata, all.layout, std::vector<std::byte>(all.extent->size())};
    EXPECT_TRUE(all.extent->read_at(0, whole.values).ok());
    return test::values_of(whole, *all.metadata.find_variable(name));
  }

  unsigned next_ = 1;
  std::deque<test::Dataset> kept_;
  std::vector<std::string> conflicts_;
  DatasetUnion union_{
      [this](std::string kind, std::string_view object, std::string found, std::string expected) {
        conflicts_.push_back(kind + " " + std::string(object) + ": " + found + "; " + expected);
      }};
};

Metadata define(std::initializer_list<std::pair<const char*, std::uint64_t>> dimensions,
                std::initializer_list<std::pair<const char*, std::vector<DimId>>> variables) {
  Metadata out;
  for (const auto& [name, length] : dimensions) EXPECT_TRUE(out.add_dimension(name, length).ok());
  for (const auto& [name, ids] : variables)
    EXPECT_TRUE(out.add_variable(name, Type::kShort, ids).ok());
  return out;
}

void put_text(Metadata* metadata, const char* name, std::string_view text) {
  EXPECT_TRUE(
      metadata->put_attribute(kGlobal, name, Type::kChar, std::as_bytes(std::span(text))).ok());
}

TEST_F(DatasetUnionTest, UnitesByName) {
  Metadata root = define({{"time", kUnlimited}, {"x", 3}}, {{"a", {0, 1}}, {"s", {}}});
  put_text(&root, "title", "one");
  Metadata more = define({{"x", 3}, {"y", 2}, {"time", kUnlimited}}, {{"b", {2, 1}}, {"c", {0}}});
  put_text(&more, "title", "one");
  put_text(&more, "note", "two");
  add("", std::move(root), 4);
  add("g/h", std::move(more), 4);
  add("empty", Metadata());
  EXPECT_TRUE(conflicts_.empty());
  const Result<nmb::Dataset> all = union_.take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_EQ(all->metadata.dimension_count(), 3U);
  EXPECT_EQ(all->metadata.attribute_count(kGlobal), 2U);
  EXPECT_EQ(all->records, 4U);
  EXPECT_EQ(values(*all, "a"), test::values_of(kept_[0], 0));
  EXPECT_EQ(values(*all, "s"), test::values_of(kept_[0], 1));
  EXPECT_EQ(values(*all, "b"), test::values_of(kept_[1], 0));
  EXPECT_EQ(values(*all, "c"), test::values_of(kept_[1], 1));
}

TEST_F(DatasetUnionTest, TellsBothGroupsOfWhatDiffers) {
  Metadata root = define({{"time", kUnlimited}, {"x", 3}}, {{"a", {0}}, {"b", {1}}});
  put_text(&root, "title", "one");
  Metadata more = define({{"time", kUnlimited}, {"x", 4}}, {{"a", {0}}, {"c", {1}}});
  put_text(&more, "title", "another");
  add("", std::move(root), 2);
  add("g", std::move(more), 3);
  EXPECT_EQ(conflicts_, (std::vector<std::string>{
                            "dimension time: 3 records in group /g; 2 records as in /",
                            "dimension x: length 4 in group /g; length 3 as in /",
                            "attributes @title: one value in group /g and another in /; equal ones",
                            "variable name a: one in group /g and one in /; one of this name"}));
}

TEST_F(DatasetUnionTest, HasOneRecordDimension) {
  add("a", define({{"t", kUnlimited}, {"n", 2}}, {{"p", {0}}}), 2);
  add("b", define({{"u", kUnlimited}}, {{"q", {0}}}), 2);
  add("c", define({{"n", kUnlimited}}, {{"r", {0}}}), 2);
  EXPECT_EQ(conflicts_,
            (std::vector<std::string>{
                "dimension name u: it as record dimension of group /b, beside \"t\" of /a; one "
                "record dimension",
                "dimension n: 2 records in group /c; length 2 as in /a"}));
}

}  // namespace
}  // namespace nmb
