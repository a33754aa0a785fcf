// Metadata: ids, names, duplicates, attributes, memory (spec/format.md, section 2).
#include "model/metadata.h"

#include <gtest/gtest.h>

#include <memory_resource>
#include <string>
#include <vector>

#include "model/names_like.h"

namespace nmb {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view text(std::span<const std::byte> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size()};
}

TEST(Metadata, CountsIdsFromZero) {
  Metadata m;
  EXPECT_EQ(m.def_dim("time", kUnlimited).value(), 0u);
  EXPECT_EQ(m.def_dim("x", 7).value(), 1u);
  const DimId shape[] = {0, 1};
  EXPECT_EQ(m.def_var("a", Type::kShort, shape).value(), 0u);
  EXPECT_EQ(m.def_var("s", Type::kDouble, {}).value(), 1u);
  EXPECT_EQ(m.record_dimension(), std::optional<DimId>(0));
  EXPECT_TRUE(m.is_record_variable(0));
  EXPECT_FALSE(m.is_record_variable(1));
  EXPECT_EQ(m.slice_bytes(0), 14u);
  EXPECT_EQ(m.slice_bytes(1), 8u);
  EXPECT_EQ(m.dimension(1).name, "x");
  EXPECT_EQ(m.dimension(1).length, 7u);
  EXPECT_EQ(m.variable(0).name, "a");
  EXPECT_EQ(m.variable(0).type, Type::kShort);
  ASSERT_EQ(m.variable(0).dimensions.size(), 2u);
  EXPECT_EQ(m.variable(0).dimensions[1], 1u);
  m.set_begin(1, 1234);
  EXPECT_EQ(m.variable(1).begin, 1234u);
}

TEST(Metadata, RefusesWhatIsNotLegal) {
  Metadata m;
  ASSERT_TRUE(m.def_dim("r", kUnlimited).ok());
  ASSERT_TRUE(m.def_dim("x", 3).ok());
  EXPECT_EQ(m.def_dim("r2", kUnlimited).status().code(), Code::kUsage);
  EXPECT_EQ(m.def_dim("x", 4).status().code(), Code::kExists);
  EXPECT_EQ(m.def_dim("long", std::uint64_t{1} << 63).status().code(), Code::kUsage);
  EXPECT_TRUE(m.def_dim("longest", (std::uint64_t{1} << 63) - 1).ok());
  const DimId unknown[] = {3}, misplaced[] = {1, 0};
  EXPECT_EQ(m.def_var("v", Type::kInt, unknown).status().code(), Code::kUsage);
  EXPECT_EQ(m.def_var("v", Type::kInt, misplaced).status().code(), Code::kUsage);
  ASSERT_TRUE(m.def_var("v", Type::kInt, {}).ok());
  EXPECT_EQ(m.def_var("v", Type::kInt, {}).status().code(), Code::kExists);
  EXPECT_EQ(m.put_att(1, "a", Type::kChar, bytes("z")).code(), Code::kUsage);
  EXPECT_EQ(m.put_att(0, "a", Type::kShort, bytes("xyz")).code(), Code::kUsage);
  EXPECT_EQ(m.dimension_count(), 3u);
  EXPECT_EQ(m.variable_count(), 1u);
  EXPECT_EQ(m.attribute_count(), 0u);
}

TEST(Metadata, ChecksNewNames) {
  using std::string_view_literals::operator""sv;
  Metadata fresh, found(Metadata::Names::kAsFound);
  for (std::string_view name : {""sv, "."sv, ".."sv, "a/b"sv, "a\0b"sv, "\xff"sv, "\xc0\x80"sv,
                                "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "abcdefgh\xc3"sv}) {
    EXPECT_EQ(fresh.def_dim(name, 1).status().code(), Code::kUsage) << name;
    EXPECT_EQ(fresh.def_var(name, Type::kInt, {}).status().code(), Code::kUsage) << name;
    EXPECT_EQ(fresh.put_att(kGlobal, name, Type::kInt, {}).code(), Code::kUsage) << name;
    EXPECT_TRUE(found.def_dim(name, 1).ok()) << name;
  }
  EXPECT_TRUE(fresh.def_dim(std::string(65535, 'n'), 1).ok());
  EXPECT_EQ(fresh.def_dim(std::string(65536, 'n'), 1).status().code(), Code::kUsage);
  for (std::string_view name : {"..."sv,
                                "Stra\xc3\x9f"
                                "e"sv,
                                "\xf0\x9f\x98\x80"sv, " x"sv})
    EXPECT_TRUE(fresh.def_dim(name, 1).ok()) << name;
}

TEST(Metadata, ChecksEveryByteOfNewNames) {
  for (const std::size_t length : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 25u}) {
    for (std::size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string name(length, 'n');
        name[at] = static_cast<char>(byte);
        const bool legal = byte != 0 && byte != '/' && byte < 0x80 && name != ".";
        Metadata m;
        EXPECT_EQ(m.def_dim(name, 1).ok(), legal) << length << " " << at << " " << byte;
      }
    }
  }
}

TEST(Metadata, SliceBytesSeesOverflow) {
  Metadata m;
  ASSERT_TRUE(m.def_dim("a", std::uint64_t{1} << 62).ok());
  ASSERT_TRUE(m.def_dim("b", 2).ok());
  const DimId fits[] = {0, 1}, over[] = {0, 1, 1};
  ASSERT_TRUE(m.def_var("fits", Type::kByte, fits).ok());
  ASSERT_TRUE(m.def_var("over", Type::kByte, over).ok());
  EXPECT_EQ(m.slice_bytes(0), std::uint64_t{1} << 63);
  EXPECT_EQ(m.slice_bytes(1), std::nullopt);
}

TEST(Metadata, ReplacesAttributesInPlace) {
  Metadata m;
  ASSERT_TRUE(m.put_att(kGlobal, "first", Type::kChar, bytes("one")).ok());
  ASSERT_TRUE(m.put_att(kGlobal, "second", Type::kChar, bytes("two")).ok());
  ASSERT_TRUE(m.put_att(kGlobal, "first", Type::kChar, bytes("longer than before")).ok());
  ASSERT_TRUE(m.put_att(kGlobal, "second", Type::kByte, bytes("2")).ok());
  EXPECT_EQ(m.def_att(kGlobal, "first", Type::kChar, {}).code(), Code::kExists);
  std::string seen;
  m.for_each_attribute(kGlobal, [&](const Attribute& a) {
    seen += std::string(a.name) + "=" + std::string(text(a.values)) + ";";
  });
  EXPECT_EQ(seen, "first=longer than before;second=2;");
  EXPECT_EQ(m.find_attribute(kGlobal, "second")->type, Type::kByte);
  EXPECT_EQ(m.find_attribute(kGlobal, "second")->count, 1u);
  EXPECT_FALSE(m.find_attribute(kGlobal, "third"));
}

TEST(Metadata, TakesViewsIntoItself) {
  Metadata m;
  ASSERT_TRUE(m.def_dim("x", 3).ok());
  const DimId shape[] = {0, 0, 0};
  ASSERT_TRUE(m.def_var("v0", Type::kInt, shape).ok());
  ASSERT_TRUE(m.put_att(0, "units", Type::kChar, bytes("kelvin")).ok());
  for (VarId id = 1; id < 200; ++id) {
    ASSERT_EQ(m.def_var("v" + std::to_string(id), Type::kInt, m.variable(0).dimensions).value(),
              id);
    const Attribute units = *m.find_attribute(id - 1, "units");
    ASSERT_TRUE(m.put_att(id, units.name, units.type, units.values).ok());
  }
  EXPECT_EQ(text(m.find_attribute(199, "units")->values), "kelvin");
  EXPECT_EQ(m.variable(199).dimensions[2], 0u);
}

// On both sides of every size at which a search changes or a table grows.
TEST(Metadata, FindsEveryNameWhileItGrows) {
  Metadata m;
  const std::string common(40, 'c');
  for (std::uint32_t i = 0; i < 600; ++i) {
    const std::string name = common + std::to_string(i);
    ASSERT_EQ(m.def_dim(name, i + 1).value(), i);
    ASSERT_EQ(m.def_var(name, Type::kInt, {}).value(), i);
    ASSERT_TRUE(m.def_att(kGlobal, name, Type::kChar, bytes(name)).ok());
    ASSERT_TRUE(m.def_att(0, name, Type::kChar, bytes("of variable 0")).ok());
    if (i % 7 != 0 && i > 40) continue;
    for (std::uint32_t j = 0; j <= i; ++j) {
      const std::string known = common + std::to_string(j);
      ASSERT_EQ(m.find_dimension(known), std::optional<DimId>(j));
      ASSERT_EQ(m.find_variable(known), std::optional<VarId>(j));
      ASSERT_EQ(text(m.find_attribute(kGlobal, known)->values), known);
      ASSERT_EQ(m.def_att(kGlobal, known, Type::kInt, {}).code(), Code::kExists);
    }
    const std::string unknown = common + std::to_string(i + 1);
    ASSERT_FALSE(m.find_dimension(unknown));
    ASSERT_FALSE(m.find_variable(unknown));
    ASSERT_FALSE(m.find_attribute(kGlobal, unknown));
    ASSERT_EQ(m.def_dim(name, 1).status().code(), Code::kExists);
    ASSERT_EQ(m.def_var(name, Type::kInt, {}).status().code(), Code::kExists);
  }
  EXPECT_EQ(m.attribute_count(kGlobal), 600u);
  EXPECT_EQ(m.attribute_count(0), 600u);
  EXPECT_EQ(m.attribute_count(1), 0u);
  EXPECT_EQ(m.attribute_count(), 1200u);
}

// Past this many names of a kind a duplicate may be found later.
constexpr std::uint32_t kMany = 3584 + 1;

std::string many_name(std::uint32_t i) { return "n" + std::to_string(i); }

Metadata many_dimensions() {
  Metadata m;
  for (std::uint32_t i = 0; i < kMany; ++i) EXPECT_TRUE(m.def_dim(many_name(i), 1).ok());
  return m;
}

TEST(Metadata, FindsDuplicatesAmongVeryMany) {
  const Metadata many = many_dimensions();
  for (const std::uint32_t again : {0u, 31u, 32u, kMany / 2, kMany - 1}) {
    Metadata m = many;
    ASSERT_TRUE(m.def_dim(many_name(kMany), 1).ok());
    ASSERT_TRUE(m.def_dim(many_name(again), 1).ok());
    // The first of them is told.
    for (std::uint32_t i = 0; i <= 2 * kMany; ++i)
      ASSERT_TRUE(m.def_dim(i % 2 ? "of one name" : many_name(kMany + 1 + i), 1).ok());
    const Status status = m.settle_names();
    EXPECT_EQ(status.code(), Code::kExists);
    EXPECT_NE(status.message().find('"' + many_name(again) + '"'), std::string::npos);
    EXPECT_EQ(m.def_dim("other", 1).status().message(), status.message());
    EXPECT_EQ(m.def_var("other", Type::kInt, {}).status().message(), status.message());
    EXPECT_EQ(m.settle_names().message(), status.message());
  }
  // One right behind the other, and the last of all.
  Metadata m = many;
  EXPECT_TRUE(m.settle_names().ok());
  ASSERT_TRUE(m.def_dim("twice", 1).ok());
  EXPECT_EQ(m.find_dimension("twice"), std::optional<DimId>(kMany));
  Status status = m.def_dim("twice", 1).status();
  if (status.ok()) status = m.settle_names();
  EXPECT_EQ(status.code(), Code::kExists);
}

TEST(Metadata, FindsDuplicateVariablesAmongVeryMany) {
  Metadata m;
  for (std::uint32_t i = 0; i < kMany + 3; ++i)
    ASSERT_TRUE(m.def_var(many_name(i), Type::kInt, {}).ok());
  Metadata at_once = m;
  at_once.check_names_at_once();
  for (const std::uint32_t again : {7u, kMany + 2})
    EXPECT_EQ(at_once.def_var(many_name(again), Type::kInt, {}).status().code(), Code::kExists);
  EXPECT_TRUE(at_once.def_var("new", Type::kInt, {}).ok());
  EXPECT_TRUE(at_once.settle_names().ok());
  Status status = m.def_var(many_name(7), Type::kInt, {}).status();
  Metadata copy = m;
  if (status.ok()) status = m.settle_names();
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_EQ(copy.settle_names().code(), Code::kExists);
  copy.clear();
  EXPECT_TRUE(copy.def_var(many_name(7), Type::kInt, {}).ok());
}

TEST(Metadata, FindsEachOfVeryManyWhileTheyGrow) {
  Metadata m = many_dimensions();
  for (std::uint32_t i = kMany; i < 130000; ++i) {
    ASSERT_EQ(m.def_dim(many_name(i), 1).value(), i);
    if (i % 997 == 0) {
      ASSERT_EQ(m.find_dimension(many_name(i)), std::optional<DimId>(i));
      ASSERT_FALSE(m.find_dimension(many_name(i + 1)));
    }
    if (i % 19997 == 0) {
      ASSERT_TRUE(m.settle_names().ok());
    }
  }
  EXPECT_TRUE(m.settle_names().ok());
  for (std::uint32_t i = 0; i < 130000; ++i)
    ASSERT_EQ(m.find_dimension(many_name(i)), std::optional<DimId>(i));
  EXPECT_FALSE(m.find_dimension("n130000"));
}

TEST(Metadata, CopiesAreWhole) {
  Metadata m;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(m.def_dim("d" + std::to_string(i), 1).ok());
  Metadata copy = m;
  ASSERT_TRUE(copy.def_dim("new", 1).ok());
  EXPECT_EQ(copy.find_dimension("d77"), std::optional<DimId>(77));
  EXPECT_FALSE(m.find_dimension("new"));
}

TEST(Metadata, ServesAgainAfterAMove) {
  Metadata m;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(m.def_dim("d" + std::to_string(i), 1).ok());
  const Metadata moved = std::move(m);
  EXPECT_EQ(moved.find_dimension("d77"), std::optional<DimId>(77));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(m.def_dim("d" + std::to_string(i), 1).ok());
  EXPECT_EQ(m.find_dimension("d77"), std::optional<DimId>(77));
}

TEST(Metadata, GrowsPastTheRoomOfOneThatIsAlike) {
  std::pmr::monotonic_buffer_resource memory;
  Metadata first;
  const auto define = [](Metadata& m, const std::string& name) {
    const DimId dimension = m.def_dim(name, 2).value();
    ASSERT_TRUE(m.def_var(name, Type::kInt, std::span(&dimension, 1)).ok());
    ASSERT_TRUE(m.put_att(kGlobal, name, Type::kChar, bytes("of " + name)).ok());
  };
  define(first, "one");
  Metadata copy;
  {
    Metadata second;
    second.reserve_like(first, memory);
    define(second, "two");
    copy = second;
    define(second, "more than one");
    EXPECT_EQ(second.find_variable("two"), std::optional<VarId>(0));
    EXPECT_EQ(second.find_variable("more than one"), std::optional<VarId>(1));
    EXPECT_EQ(text(second.find_attribute(kGlobal, "two")->values), "of two");
    second.shrink();
    EXPECT_EQ(second.variable(1).dimensions[0], 1u);
  }
  memory.release();
  EXPECT_EQ(copy.variable(0).name, "two");
  define(copy, "three");
  EXPECT_EQ(copy.find_dimension("three"), std::optional<DimId>(1));
}

// Names and attribute values are those of the copy before it where they are the same; each changes
// alone all the same.
TEST(Metadata, CopiesShareWhatTheyHaveAlike) {
  std::pmr::monotonic_buffer_resource memory;
  Metadata model;
  const DimId x = model.def_dim("x", 2).value();
  ASSERT_TRUE(model.def_var("v", Type::kInt, std::span(&x, 1)).ok());
  ASSERT_TRUE(model.put_att(0, "units", Type::kChar, bytes("metre")).ok());
  Metadata first, second, third;
  first.copy_from(model, memory);
  model.set_length(x, 3);
  second.copy_from(model, memory, &first);
  EXPECT_EQ(second.variable(0).name.data(), first.variable(0).name.data());
  ASSERT_TRUE(model.put_att(0, "units", Type::kChar, bytes("litre")).ok());
  third.copy_from(model, memory, &second);
  EXPECT_NE(third.variable(0).name.data(), second.variable(0).name.data());
  EXPECT_EQ(first.dimension(x).length, 2u);
  EXPECT_EQ(second.dimension(x).length, 3u);

  ASSERT_TRUE(first.put_att(0, "units", Type::kChar, bytes("yard")).ok());
  ASSERT_TRUE(second.def_var("w", Type::kInt, {}).ok());
  EXPECT_EQ(text(first.find_attribute(0, "units")->values), "yard");
  EXPECT_EQ(text(second.find_attribute(0, "units")->values), "metre");
  EXPECT_EQ(text(third.find_attribute(0, "units")->values), "litre");
  EXPECT_EQ(first.find_variable("w"), std::nullopt);
  second.clear();
  ASSERT_TRUE(second.def_dim("another", 1).ok());
  EXPECT_EQ(first.variable(0).name, "v");
}

// Definitions that differ from the model, and later ones, are checked as without a model.
TEST(Metadata, ChecksNamesThatTheModelDoesNotHaveInTheirPlace) {
  Metadata model;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(model.def_dim(name, 1).ok());
    ASSERT_TRUE(model.def_var(name, Type::kInt, {}).ok());
  }
  const auto define = [&](const std::vector<std::string>& names) {
    Metadata dimensions, variables;
    NamesLike like_dimensions(&model), like_variables(&model);
    std::vector<Code> codes;
    for (const std::string& name : names) {
      const Status dimension = like_dimensions.def_dim(dimensions, name, 2).status();
      const Status variable = like_variables.def_var(variables, name, Type::kByte, {}).status();
      EXPECT_EQ(dimension.code(), variable.code()) << name;
      codes.push_back(dimension.code());
    }
    return codes;
  };
  using Codes = std::vector<Code>;
  EXPECT_EQ(define({"a", "b", "c"}), (Codes{Code::kOk, Code::kOk, Code::kOk}));
  EXPECT_EQ(define({"a", "b", "c", "a"}), (Codes{Code::kOk, Code::kOk, Code::kOk, Code::kExists}));
  EXPECT_EQ(define({"a", "a", "b"}), (Codes{Code::kOk, Code::kExists, Code::kOk}));
  // The second name of the model is taken already when it comes in its place.
  EXPECT_EQ(define({"b", "b"}), (Codes{Code::kOk, Code::kExists}));
  EXPECT_EQ(define({"c", "b", "c"}), (Codes{Code::kOk, Code::kOk, Code::kExists}));
  EXPECT_EQ(define({"a", "x/y"}), (Codes{Code::kOk, Code::kUsage}));
}

TEST(Metadata, SmallBlocksStaySmall) {
  Metadata m;
  for (int i = 0; i < 24; ++i) ASSERT_TRUE(m.def_dim("dimension_" + std::to_string(i), 5).ok());
  for (DimId i = 0; i < 16; ++i) {
    const DimId shape[] = {i, i + 8};
    ASSERT_TRUE(m.def_var("variable_" + std::to_string(i), Type::kFloat, shape).ok());
  }
  m.shrink();
  EXPECT_LE(m.memory(), 1800u);
}

}  // namespace
}  // namespace nmb
