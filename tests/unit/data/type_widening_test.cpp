// Numbers of several types as those of one that holds them all.
#include "sources/type_widening.h"

#include <gtest/gtest.h>

#include <array>

#include "model/values.h"
#include "sources/value_source.h"

namespace nmb {
namespace {

std::optional<Type> of(std::initializer_list<Type> types) {
  TypeSet set = 0;
  for (const Type type : types) set |= type_bit(type);
  return narrowest_type(set);
}

TEST(TypeWidening, TheNarrowestTypeHoldsAllValues) {
  EXPECT_EQ(of({Type::kChar}), Type::kChar);
  EXPECT_EQ(of({Type::kUByte}), Type::kUByte);
  EXPECT_EQ(of({Type::kByte, Type::kUByte}), Type::kShort);
  EXPECT_EQ(of({Type::kByte, Type::kUShort}), Type::kInt);
  EXPECT_EQ(of({Type::kUByte, Type::kUShort}), Type::kUShort);
  EXPECT_EQ(of({Type::kInt, Type::kUInt}), Type::kInt64);
  EXPECT_EQ(of({Type::kUInt, Type::kUInt64}), Type::kUInt64);
  EXPECT_EQ(of({Type::kByte, Type::kUInt64}), std::nullopt);
  EXPECT_EQ(of({Type::kUShort, Type::kFloat}), Type::kFloat);
  EXPECT_EQ(of({Type::kInt, Type::kFloat}), Type::kDouble);
  EXPECT_EQ(of({Type::kByte, Type::kDouble}), Type::kDouble);
  EXPECT_EQ(of({Type::kInt64, Type::kFloat}), std::nullopt);
  EXPECT_EQ(of({Type::kChar, Type::kByte}), std::nullopt);
}

// The common type does not depend on the order of the types.
TEST(TypeWidening, EveryTypeOfASetIsHeldByThatOfTheSet) {
  for (TypeSet set = 1; set < TypeSet{1} << 12; ++set) {
    if (set & 1) continue;  // types count from 1
    const auto wide = narrowest_type(set);
    if (!wide) continue;
    for (unsigned t = 1; t < 12; ++t)
      if (set >> t & 1) {
        EXPECT_EQ(narrowest_type(type_bit(*wide) | TypeSet{1} << t), wide);
      }
  }
}

TEST(TypeWidening, ValuesAndTheirLimitsStayTheSame) {
  const std::array<std::int16_t, 5> values{-32768, -32767, -1, 0, 32767};
  std::vector<std::byte> narrow(10);
  convert_to_external(MemoryType::kInt16, values.data(), 5, Type::kShort, narrow.data());
  for (const Type to : {Type::kInt, Type::kInt64, Type::kFloat, Type::kDouble}) {
    const std::vector<std::byte> wide = widened_values(narrow, Type::kShort, to);
    std::array<std::int16_t, 5> back{};
    EXPECT_EQ(convert_from_external(to, wide.data(), 5, MemoryType::kInt16, back.data()), 0u);
    EXPECT_EQ(back, values);
  }
}

TEST(TypeWidening, ArraysAreReadInAnyPartsAndFillValuesStayFillValues) {
  const std::array<std::int16_t, 4> values{7, -32767, 9, 10};
  std::vector<std::byte> narrow(8);
  convert_to_external(MemoryType::kInt16, values.data(), 4, Type::kShort, narrow.data());
  const auto source = owned_bytes(narrow, "narrow");
  for (const bool maps : {false, true}) {
    const Source wide =
        source_of(form::Converted{source, widening({Type::kShort, Type::kInt, maps})});
    ASSERT_EQ(wide->size(), 16u);
    std::vector<std::byte> all(16);
    for (std::size_t step : {1u, 3u, 7u, 16u})
      for (std::size_t at = 0; at < 16; at += step)
        ASSERT_TRUE(
            wide->read_at(at, std::span(all).subspan(at, std::min<std::size_t>(step, 16 - at)))
                .ok());
    std::array<std::int32_t, 4> found{};
    convert_from_external(Type::kInt, all.data(), 4, MemoryType::kInt32, found.data());
    EXPECT_EQ(found, (std::array<std::int32_t, 4>{7, maps ? -2147483647 : -32767, 9, 10}));
  }
  // All values of one byte are valid.
  const auto bytes = owned_bytes(default_fill_value(Type::kByte), "byte");
  std::vector<std::byte> one(2);
  const form::Converted wide{bytes, widening({Type::kByte, Type::kShort, true})};
  ASSERT_TRUE(wide.read_at(0, one).ok());
  EXPECT_EQ(one, widened_values(default_fill_value(Type::kByte), Type::kByte, Type::kShort));
}

}  // namespace
}  // namespace nmb
