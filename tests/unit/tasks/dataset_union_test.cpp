// Several datasets as one: names that are one, names that clash, and where values lie.
#include "merge/uniting/dataset_union.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/values.h"
#include "support/dataset.h"

namespace nmb {
namespace {

class DatasetUnionTest : public testing::Test {
 protected:
  // A group whose values count on from those of the groups before.
  void add(const std::string& group, Metadata metadata, std::uint64_t records = 0,
           bool is_record_unused = false) {
    test::ClassicDataset made = test::make_dataset(std::move(metadata), Kind::kCdf1, records);
    for (std::byte& value : made.values) value = static_cast<std::byte>(next_++ % 251);
    kept_.push_back(std::move(made));
    nmb::Dataset dataset;
    dataset.metadata = kept_.back().metadata;
    dataset.layout = kept_.back().layout;
    dataset.records = records;
    DatasetUnion::Member member = DatasetUnion::member_of(dataset, kept_.back().extent());
    member.group = group;
    member.is_record_unused = is_record_unused;
    ASSERT_TRUE(union_->add(member).ok());
  }

  // The values of a variable of the union.
  std::vector<std::byte> values(const nmb::Dataset& all, const char* name) {
    test::ClassicDataset whole{all.metadata, all.layout,
                               std::vector<std::byte>(all.extent->size())};
    EXPECT_TRUE(all.extent->read_at(0, whole.values).ok());
    return test::values_of(whole, *all.metadata.find_variable(name));
  }

  void use(UnionRules rules) {
    union_ = std::make_unique<DatasetUnion>(std::move(rules), [this](const UnionNote& note) {
      auto& notes = note.what == UnionNote::What::kConflict  ? conflicts_
                    : note.what == UnionNote::What::kLeftOut ? left_out_
                    : note.what == UnionNote::What::kFilled  ? filled_
                                                             : differing_;
      notes.push_back(std::string(conflict_name(note.kind)) + " " + note.object + ": " +
                      note.found + "; " + note.expected);
    });
  }

  unsigned next_ = 1;
  std::deque<test::ClassicDataset> kept_;
  std::vector<std::string> conflicts_, left_out_, filled_, differing_;
  std::unique_ptr<DatasetUnion> union_;
};

// Groups of one file.
class GroupUnionTest : public DatasetUnionTest {
 protected:
  void SetUp() override { use({.distinct_variables = true}); }
};

using Along = UnionRules::Along;

// Times that count from another day.
class TimesUnionTest : public DatasetUnionTest {
 protected:
  void SetUp() override {
    use({.along = Along::kRecords, .complete = true, .rebases_times = true});
  }

  // Two records of time and its bounds, with these times.
  void add_times(const char* units, std::vector<double> times, const char* calendar = "noleap",
                 bool has_bounds = true) {
    Metadata metadata;
    EXPECT_TRUE(metadata.def_dim("time", kUnlimited).ok() && metadata.def_dim("two", 1).ok());
    const VarId bounds = *metadata.def_var("limits", Type::kDouble, std::vector<DimId>{0, 1});
    const VarId time = *metadata.def_var("time", Type::kDouble, std::vector<DimId>{0});
    EXPECT_EQ(bounds, 0U);
    const auto put = [&](const char* name, std::string_view text) {
      EXPECT_TRUE(metadata.put_att(time, name, Type::kChar, std::as_bytes(std::span(text))).ok());
    };
    put("units", units);
    put("calendar", calendar);
    if (has_bounds) put("bounds", "limits");
    test::ClassicDataset made = test::make_dataset(std::move(metadata), Kind::kCdf5, times.size());
    for (std::size_t i = 0; i < times.size(); ++i)
      for (const VarId v : {bounds, time})
        convert_to_external(MemoryType::kDouble, &times[i], 1, Type::kDouble,
                            made.values.data() + i * made.layout.record_size +
                                (made.metadata.begin(v) - made.layout.header_length));
    kept_.push_back(std::move(made));
    nmb::Dataset dataset;
    dataset.metadata = kept_.back().metadata;
    dataset.layout = kept_.back().layout;
    dataset.records = times.size();
    ASSERT_TRUE(union_->add(DatasetUnion::member_of(dataset, kept_.back().extent())).ok());
  }

  std::vector<double> doubles(const nmb::Dataset& all, const char* name) {
    const std::vector<std::byte> bytes = values(all, name);
    std::vector<double> out(bytes.size() / 8);
    convert_from_external(Type::kDouble, bytes.data(), out.size(), MemoryType::kDouble, out.data());
    return out;
  }
};

TEST_F(TimesUnionTest, TimesAndTheirBoundsGetTheUnitsOfTheFirst) {
  add_times("days since 2000-01-01", {0, 1.5});
  add_times("days since 2000-03-01", {-1, 0.25}, "365_day");
  add_times("hours since 2000-03-01 12:00", {24});
  EXPECT_TRUE(union_->check_times().ok());
  EXPECT_TRUE(conflicts_.empty()) << conflicts_.front();
  const Result<nmb::Dataset> all = union_->take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  const std::vector<double> expected{0, 1.5, 58, 59.25, 60.5};
  EXPECT_EQ(doubles(*all, "time"), expected);
  EXPECT_EQ(doubles(*all, "limits"), expected);
}

TEST_F(TimesUnionTest, TimesThatAreNotExactAreConflicts) {
  add_times("days since 2000-01-01", {0, 1});
  add_times("days since 2000-03-01", {0.5, 1.0 / 24});
  EXPECT_TRUE(conflicts_.empty());
  EXPECT_TRUE(union_->check_times().ok());
  ASSERT_EQ(conflicts_.size(), 2U);
  EXPECT_NE(conflicts_[1].find("values time: "), std::string::npos) << conflicts_[1];
  EXPECT_NE(conflicts_[1].find("[1] in \"days since 2000-03-01\""), std::string::npos)
      << conflicts_[1];
}

TEST_F(TimesUnionTest, OtherCalendarsAndUnitsAreConflicts) {
  add_times("days since 2000-01-01", {0});
  add_times("days since 2000-03-01", {0}, "julian");
  add_times("months since 2000-03-01", {0});
  EXPECT_GE(conflicts_.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(conflicts_, [](const std::string& text) {
    return text.find("not rebased: the calendars differ") != text.npos;
  }));
  EXPECT_TRUE(std::ranges::any_of(conflicts_, [](const std::string& text) {
    return text.find("\"months since 2000-03-01\" is not supported") != text.npos;
  }));
}

// A later dataset says that a variable of earlier ones has the bounds of a time.
TEST_F(TimesUnionTest, BoundsThatAreToldTooLateAreConflicts) {
  add_times("days since 2000-01-01", {0}, "noleap", false);
  add_times("days since 2000-03-01", {0}, "noleap", false);
  EXPECT_TRUE(conflicts_.empty());
  add_times("days since 2000-04-01", {0});
  ASSERT_EQ(conflicts_.size(), 1U);
  EXPECT_NE(conflicts_[0].find("attribute time@bounds"), std::string::npos) << conflicts_[0];
}

Metadata define(std::initializer_list<std::pair<const char*, std::uint64_t>> dimensions,
                std::initializer_list<std::pair<const char*, std::vector<DimId>>> variables) {
  Metadata out;
  for (const auto& [name, length] : dimensions) EXPECT_TRUE(out.def_dim(name, length).ok());
  for (const auto& [name, ids] : variables) EXPECT_TRUE(out.def_var(name, Type::kShort, ids).ok());
  return out;
}

void put_text(Metadata* metadata, const char* name, std::string_view text) {
  EXPECT_TRUE(metadata->put_att(kGlobal, name, Type::kChar, std::as_bytes(std::span(text))).ok());
}

std::span<const std::byte> bytes_of_one() {
  static constexpr std::array<std::byte, 2> kBytes{std::byte{1}, std::byte{1}};
  return kBytes;
}

TEST_F(GroupUnionTest, UnitesByName) {
  Metadata root = define({{"time", kUnlimited}, {"x", 3}}, {{"a", {0, 1}}, {"s", {}}});
  put_text(&root, "title", "one");
  Metadata more = define({{"x", 3}, {"y", 2}, {"time", kUnlimited}}, {{"b", {2, 1}}, {"c", {0}}});
  put_text(&more, "title", "one");
  put_text(&more, "note", "two");
  add("", std::move(root), 4);
  add("g/h", std::move(more), 4);
  add("empty", Metadata());
  EXPECT_TRUE(conflicts_.empty());
  const Result<nmb::Dataset> all = union_->take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_EQ(all->metadata.dimension_count(), 3U);
  EXPECT_EQ(all->metadata.attribute_count(kGlobal), 2U);
  EXPECT_EQ(all->records, 4U);
  EXPECT_EQ(values(*all, "a"), test::values_of(kept_[0], 0));
  EXPECT_EQ(values(*all, "s"), test::values_of(kept_[0], 1));
  EXPECT_EQ(values(*all, "b"), test::values_of(kept_[1], 0));
  EXPECT_EQ(values(*all, "c"), test::values_of(kept_[1], 1));
}

TEST_F(GroupUnionTest, TellsBothGroupsOfWhatDiffers) {
  Metadata root = define({{"time", kUnlimited}, {"x", 3}}, {{"a", {0}}, {"b", {1}}});
  put_text(&root, "title", "one");
  Metadata more = define({{"time", kUnlimited}, {"x", 4}}, {{"a", {0}}, {"c", {1}}});
  put_text(&more, "title", "another");
  add("", std::move(root), 2);
  add("g", std::move(more), 3);
  EXPECT_EQ(
      conflicts_,
      (std::vector<std::string>{
          "dimension time: 3 records in group /g; 2 records as in /",
          "dimension x: length 4 in group /g; length 3 as in /",
          "attribute @title: \"another\" in group /g; \"one\" as in /",
          "variable name a: a second object with this name in group /g; one object as in /"}));
}

TEST_F(GroupUnionTest, HasOneRecordDimension) {
  add("a", define({{"t", kUnlimited}, {"n", 2}}, {{"p", {0}}}), 2);
  add("b", define({{"u", kUnlimited}}, {{"q", {0}}}), 2);
  add("c", define({{"n", kUnlimited}}, {{"r", {0}}}), 2);
  EXPECT_EQ(conflicts_, (std::vector<std::string>{
                            "dimension name u: this record dimension in group /b; \"t\" as in /a",
                            "dimension n: 2 records in group /c; length 2 as in /a"}));
}

// A dimension that nothing uses has no length yet, wherever it comes.
TEST_F(DatasetUnionTest, UnusedRecordsGoWithAny) {
  const auto unused = [] { return define({{"t", kUnlimited}, {"x", 2}}, {{"a", {1}}}); };
  const auto used = [] { return define({{"t", kUnlimited}}, {{"v", {0}}}); };
  for (const bool is_first : {true, false}) {
    use({.agreement = {.first_values = true}});
    if (is_first) add("", unused(), 0, true);
    add("", used(), 3);
    if (!is_first) add("", unused(), 0, true);
    EXPECT_TRUE(conflicts_.empty());
    const Result<nmb::Dataset> all = union_->take("file");
    ASSERT_TRUE(all.ok()) << all.status().text();
    EXPECT_EQ(all->records, 3U);
    EXPECT_EQ(values(*all, "v"), test::values_of(kept_[is_first ? 1 : 2], 0));
  }
  use({.agreement = {.first_values = true}});
  add("", unused(), 0, true);
  add("", used(), 3);
  add("", used(), 0);
  EXPECT_EQ(conflicts_, std::vector<std::string>{"dimension t: 0 records; 3 records"});
}

// Another dataset uses the dimension where no record dimension can be.
TEST_F(DatasetUnionTest, UnusedRecordsGoWithAFixedLength) {
  for (const bool is_first : {true, false})
    for (const bool grows : {true, false}) {
      use({.grows_anywhere = grows});
      const auto add_unused = [&] { add("", define({{"t", kUnlimited}}, {}), 0, true); };
      if (is_first) add_unused();
      add("", define({{"x", 2}, {"t", 3}}, {{"v", {0, 1}}}));
      if (!is_first) add_unused();
      EXPECT_TRUE(conflicts_.empty());
      EXPECT_EQ(union_->has_growing(), grows && is_first);
      const Result<nmb::Dataset> all = union_->take("file");
      ASSERT_TRUE(all.ok()) << all.status().text();
      EXPECT_EQ(values(*all, "v"), test::values_of(kept_[kept_.size() - (is_first ? 1 : 2)], 0));
    }
}

TEST_F(DatasetUnionTest, RecordsBecomeADimensionThatGrows) {
  const auto add_both = [this] {
    add("", define({{"t", kUnlimited}, {"x", 2}}, {{"a", {0}}, {"b", {0}}}), 3);
    add("", define({{"x", 2}, {"t", 2}}, {{"a", {1}}, {"b", {1}}, {"v", {0, 1}}}));
  };
  use({.along = Along::kRecords, .complete = true, .fills = true, .grows_anywhere = true});
  add_both();
  EXPECT_TRUE(conflicts_.empty());
  EXPECT_TRUE(union_->has_growing());
  const Result<nmb::Dataset> all = union_->take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_FALSE(all->metadata.record_dimension());
  EXPECT_EQ(all->metadata.dimension(0).length, 5U);
  for (const VarId v : {0U, 1U}) {
    std::vector<std::byte> joined = test::values_of(kept_[0], v);
    const std::vector<std::byte> second = test::values_of(kept_[1], v);
    joined.insert(joined.end(), second.begin(), second.end());
    EXPECT_EQ(values(*all, v == 0 ? "a" : "b"), joined);
  }
  use({.along = Along::kRecords, .complete = true, .fills = true});
  add_both();
  EXPECT_EQ(conflicts_, std::vector<std::string>{"variable v: the unlimited dimension \"t\" as "
                                                 "dimension 2; it as the first dimension"});
}

// What is one behind the other along the records, whose first dimension is that.
std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(DatasetUnionTest, JoinsRecordsWhateverTheirLayout) {
  use({.along = Along::kRecords, .complete = true});
  // Two variables, whose records are padded; one that is alone, whose are not; a dimension of fixed
  // length.
  add("", define({{"t", kUnlimited}, {"x", 3}}, {{"a", {0, 1}}, {"b", {0}}}), 2);
  add("", define({{"x", 3}, {"t", kUnlimited}}, {{"b", {1}}, {"a", {1, 0}}}), 3);
  add("", define({{"t", 2}, {"x", 3}}, {{"a", {0, 1}}, {"b", {0}}}));
  EXPECT_TRUE(conflicts_.empty());
  const Result<nmb::Dataset> all = union_->take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_EQ(all->records, 7U);
  EXPECT_EQ(values(*all, "a"), test::values_of(kept_[0], 0) + test::values_of(kept_[1], 1) +
                                   test::values_of(kept_[2], 0));
  EXPECT_EQ(values(*all, "b"), test::values_of(kept_[0], 1) + test::values_of(kept_[1], 0) +
                                   test::values_of(kept_[2], 1));
  EXPECT_EQ(union_->joined(), std::vector<DimId>{0});
  EXPECT_EQ(union_->member_at(0, 1), 0U);
  EXPECT_EQ(union_->member_at(0, 2), 1U);
  EXPECT_EQ(union_->member_at(0, 6), 2U);
}

TEST_F(DatasetUnionTest, TellsWhatIsMissingAndWhatIsTooMuch) {
  use({.along = Along::kRecords, .complete = true});
  add("", define({{"t", kUnlimited}}, {{"a", {0}}, {"b", {0}}}), 1);
  add("", define({{"t", kUnlimited}}, {{"c", {0}}, {"b", {0}}}), 1);
  EXPECT_EQ(conflicts_, (std::vector<std::string>{"extra variable c: one; none",
                                                  "missing variable a: none; one"}));
}

TEST_F(DatasetUnionTest, FillsWhatIsMissing) {
  use({.along = Along::kRecords, .complete = true, .fills = true});
  add("", define({{"t", kUnlimited}}, {{"a", {0}}}), 2);
  add("", define({{"t", kUnlimited}}, {{"b", {0}}}), 1);
  EXPECT_TRUE(conflicts_.empty());
  const Result<nmb::Dataset> all = union_->take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  const std::vector<std::byte> fill = default_fill_value(Type::kShort);
  EXPECT_EQ(values(*all, "a"), test::values_of(kept_[0], 0) + fill);
  EXPECT_EQ(values(*all, "b"), fill + fill + test::values_of(kept_[1], 0));
}

TEST_F(DatasetUnionTest, ComparesValuesOfSharedVariables) {
  use({});
  for (const char* last : {"b", "c"}) {
    next_ = 1;
    add("", define({{"t", kUnlimited}, {"x", 2}}, {{"a", {0, 1}}, {last, {0}}}), 3);
  }
  EXPECT_TRUE(conflicts_.empty());
  next_ = 3;
  add("", define({{"t", kUnlimited}, {"x", 2}}, {{"a", {0, 1}}}), 3);
  EXPECT_EQ(conflicts_, std::vector<std::string>{"values a: 772s at [0,0]; 258s"});
  const Result<nmb::Dataset> all = union_->take("file");
  ASSERT_TRUE(all.ok()) << all.status().text();
  EXPECT_EQ(values(*all, "a"), test::values_of(kept_[0], 0));
  EXPECT_EQ(values(*all, "b"), test::values_of(kept_[0], 1));
  EXPECT_EQ(values(*all, "c"), test::values_of(kept_[1], 1));
}

TEST_F(DatasetUnionTest, KeepsTheFirstOfAttributesThatDoNotTellMeaning) {
  use({.along = Along::kRecords, .complete = true});
  for (const char* text : {"one", "two"}) {
    Metadata metadata = define({{"t", kUnlimited}}, {{"a", {0}}});
    put_text(&metadata, "history", text);
    const auto bytes = std::as_bytes(std::span(std::string_view(text)));
    EXPECT_TRUE(metadata.put_att(0, "units", Type::kChar, bytes).ok());
    add("", std::move(metadata), 1);
  }
  EXPECT_EQ(differing_, std::vector<std::string>{"attribute @history: \"two\"; \"one\""});
  EXPECT_EQ(conflicts_, std::vector<std::string>{"attribute a@units: \"two\"; \"one\""});
}

// One that only one dataset has would be said of the other's values too.
TEST_F(DatasetUnionTest, AttributesThatTellMeaningAreInAllDatasets) {
  for (const char* name :
       {"units",         "units_metadata", "calendar",      "leap_year",  "leap_month",
        "month_lengths", "_FillValue",     "missing_value", "valid_min",  "valid_max",
        "valid_range",   "scale_factor",   "add_offset",    "_Unsigned",  "_Encoding",
        "dtype",         "compress",       "flag_values",   "flag_masks", "axis",
        "positive",      "standard_name",  "cell_methods"}) {
    for (const bool first : {true, false}) {
      use({.along = Along::kRecords, .complete = true});
      conflicts_.clear();
      for (const bool has : {first, !first}) {
        Metadata metadata = define({{"t", kUnlimited}}, {{"a", {0}}});
        if (has) {
          EXPECT_TRUE(metadata.put_att(0, name, Type::kShort, bytes_of_one()).ok());
        }
        add("", std::move(metadata), 1);
      }
      EXPECT_EQ(conflicts_, std::vector<std::string>{std::string("attribute a@") + name +
                                                     (first ? ": none; 257s" : ": 257s; none")});
    }
  }
}

TEST_F(DatasetUnionTest, TellsOtherAttributesThatOneDatasetHas) {
  for (const bool strict : {false, true}) {
    use({.along = Along::kRecords, .agreement = {.strict_attributes = strict}, .complete = true});
    conflicts_.clear(), differing_.clear();
    for (const char* name : {"one", "two"}) {
      Metadata metadata = define({{"t", kUnlimited}}, {{"a", {0}}});
      put_text(&metadata, name, "text");
      if (!strict) {
        EXPECT_TRUE(metadata.put_att(0, name, Type::kShort, bytes_of_one()).ok());
      }
      add("", std::move(metadata), 1);
    }
    EXPECT_EQ(conflicts_.size(), strict ? 2u : 0u);
    if (strict) continue;
    EXPECT_EQ(differing_, (std::vector<std::string>{
                              "attribute @two: \"text\"; none", "attribute @one: none; \"text\"",
                              "attribute a@two: 257s; none", "attribute a@one: none; 257s"}));
  }
}

TEST_F(DatasetUnionTest, LeavesOutWhatDoesNotGoWithTheFirst) {
  use({.along = Along::kRecords, .complete = true, .skips = true});
  add("", define({{"t", kUnlimited}, {"x", 2}}, {{"a", {0}}, {"b", {1}}}), 1);
  add("", define({{"t", kUnlimited}, {"x", 2}}, {{"a", {0}}, {"b", {1}}, {"c", {0}}}), 1);
  EXPECT_TRUE(conflicts_.empty());
  EXPECT_EQ(left_out_, (std::vector<std::string>{"values b: 1800s at [0]; 258s",
                                                 "extra variable c: one; none"}));
}

}  // namespace
}  // namespace nmb
