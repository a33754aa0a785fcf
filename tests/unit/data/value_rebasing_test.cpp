// Times counted from another day: exact, or refused.
#include "sources/value_rebasing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "model/values.h"
#include "netcdf/calendar_time.h"

namespace nmb {
namespace {

template <class T>
constexpr MemoryType memory_of() {
  return std::is_same_v<T, double>          ? MemoryType::kDouble
         : std::is_same_v<T, float>         ? MemoryType::kFloat
         : std::is_same_v<T, std::uint64_t> ? MemoryType::kUInt64
                                            : MemoryType::kInt64;
}

template <class T>
std::vector<std::byte> external(Type type, const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * type_size(type));
  EXPECT_EQ(convert_to_external(memory_of<T>(), values.data(), values.size(), type, out.data()),
            0U);
  return out;
}

template <class T>
std::vector<T> rebased(const Rebasing& how, const std::vector<T>& values) {
  const std::vector<std::byte> before = external(how.type, values);
  EXPECT_EQ(first_inexact(how, before), std::nullopt);
  std::vector<std::byte> after(before.size());
  rebasing(how).convert(before, after);
  std::vector<T> out(values.size());
  convert_from_external(how.type, after.data(), out.size(), memory_of<T>(), out.data());
  return out;
}

template <class T>
bool is_exact(const Rebasing& how, T value) {
  return !first_inexact(how, external(how.type, std::vector<T>{value}));
}

constexpr std::int64_t kHour = 3'600'000'000, kDay = 24 * kHour;

TEST(ValueRebasing, NumbersOfEveryTypeMoveByDays) {
  const std::vector<std::int64_t> days{0, 1, 90}, moved{31, 32, 121};
  for (const Type type : {Type::kByte, Type::kUByte, Type::kShort, Type::kUShort, Type::kInt,
                          Type::kUInt, Type::kInt64})
    EXPECT_EQ(rebased(Rebasing{type, kDay, kDay, 31 * kDay, {}}, days), moved);
  EXPECT_EQ(rebased(Rebasing{Type::kUInt64, kDay, kDay, kDay, {}},
                    std::vector<std::uint64_t>{~std::uint64_t{1}}),
            std::vector<std::uint64_t>{~std::uint64_t{0}});
  EXPECT_EQ(rebased(Rebasing{Type::kDouble, kDay, kDay, -31 * kDay, {}},
                    std::vector<double>{0.5, 31, -1e-3 * 0}),
            (std::vector<double>{-30.5, 0, -31}));
  EXPECT_EQ(
      rebased(Rebasing{Type::kFloat, kHour, kDay, 6 * kHour, {}}, std::vector<float>{0, 6, 18, -6}),
      (std::vector<float>{0.25F, 0.5F, 1, 0}));
  EXPECT_EQ(
      rebased(Rebasing{Type::kInt, kDay, kHour, 5 * kHour, {}}, std::vector<std::int64_t>{0, -2}),
      (std::vector<std::int64_t>{5, -43}));
}

TEST(ValueRebasing, WhatATypeCannotHoldIsInexact) {
  const auto days = [](Type type, std::int64_t by) { return Rebasing{type, kDay, kDay, by, {}}; };
  EXPECT_FALSE(is_exact(days(Type::kDouble, 31 * kDay), 1.0 / 24));
  EXPECT_TRUE(is_exact(days(Type::kDouble, 31 * kDay), 1.0 / 32));
  EXPECT_FALSE(is_exact(days(Type::kDouble, kHour), 1.0));
  EXPECT_FALSE(is_exact(days(Type::kDouble, kDay), 1e-300));
  EXPECT_FALSE(is_exact(days(Type::kDouble, kDay), 1e300));
  EXPECT_FALSE(is_exact(days(Type::kDouble, kDay), 9007199254740992.0));
  EXPECT_TRUE(is_exact(days(Type::kDouble, -kDay), 9007199254740991.0));
  EXPECT_FALSE(is_exact(days(Type::kFloat, kDay), 16777216.0F));
  EXPECT_FALSE(is_exact(Rebasing{Type::kFloat, kDay, 1, 0, {}}, std::ldexp(1.0F, 127)));
  EXPECT_FALSE(is_exact(days(Type::kInt, kHour), std::int64_t{1}));
  EXPECT_FALSE(is_exact(days(Type::kByte, 100 * kDay), std::int64_t{28}));
  EXPECT_TRUE(is_exact(days(Type::kByte, 100 * kDay), std::int64_t{27}));
  EXPECT_FALSE(is_exact(days(Type::kUByte, -kDay), std::int64_t{0}));
  EXPECT_FALSE(is_exact(days(Type::kInt64, kDay), std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(is_exact(days(Type::kUInt64, -kDay), std::uint64_t{0}));
  // A shift of 0 is exact for every value.
  EXPECT_TRUE(is_exact(days(Type::kDouble, 0), 1e300));
}

TEST(ValueRebasing, MissingValuesStay) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const Rebasing how{Type::kDouble, kDay, kDay, kDay,
                     external(Type::kDouble, std::vector{-99.0, 7.0})};
  const auto found = rebased(how, std::vector<double>{-99, 7, 8, infinite, nan});
  EXPECT_EQ(std::vector(found.begin(), found.end() - 1),
            (std::vector<double>{-99, 7, 9, infinite}));
  EXPECT_TRUE(std::isnan(found.back()));
  // A time must not become a missing value.
  EXPECT_FALSE(is_exact(how, 6.0));
}

// Converting an exact result back gives the value.
TEST(ValueRebasing, ExactResultsAreReversible) {
  std::mt19937_64 random(1);
  const std::int64_t units[] = {1, 1000, 1'000'000, 60'000'000, kHour, kDay, 7 * kDay};
  std::size_t exact = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t from = units[random() % 7], to = units[random() % 7];
    const std::int64_t shift = (static_cast<std::int64_t>(random() % 4000) - 2000) * kHour;
    const double value =
        std::ldexp(static_cast<double>(random() % 100000), -static_cast<int>(random() % 8));
    const Rebasing there{Type::kDouble, from, to, shift, {}},
        back{Type::kDouble, to, from, -shift, {}};
    if (!is_exact(there, value)) continue;
    ++exact;
    EXPECT_EQ(rebased(back, rebased(there, std::vector{value})).front(), value);
  }
  EXPECT_GT(exact, 2000U);
}

TEST(CalendarTime, ShiftsBetweenUnitsOfOneCalendar) {
  const auto shift = [](const char* from, const char* to, const char* calendar) {
    return CalendarTime::parse(from, calendar)->shift_to(*CalendarTime::parse(to, calendar));
  };
  const auto days = [](std::int64_t n) { return TimeShift{kDay, kDay, n * kDay}; };
  EXPECT_EQ(shift("days since 2000-03-01", "days since 2000-02-01", "standard"), days(29));
  EXPECT_EQ(shift("days since 2000-03-01", "days since 2000-02-01", "noleap"), days(28));
  EXPECT_EQ(shift("days since 2001-03-01", "days since 2001-02-01", "366_day"), days(29));
  EXPECT_EQ(shift("days since 2000-03-01", "days since 2000-02-01", "360_day"), days(30));
  EXPECT_EQ(shift("days since 1900-03-01", "days since 1900-02-01", "julian"), days(29));
  EXPECT_EQ(shift("days since 1582-10-15", "days since 1582-10-04", "gregorian"), days(1));
  EXPECT_EQ(shift("days since 1582-10-15", "days since 1582-10-04", "proleptic_gregorian"),
            days(11));
  EXPECT_EQ(shift("hours since 2000-01-01 00:00:00 -06:00", "days since 2000-01-01", ""),
            (TimeShift{kHour, kDay, 6 * kHour}));
  EXPECT_FALSE(CalendarTime::parse("days since 2000-01-01", "noleap")
                   ->shift_to(*CalendarTime::parse("days since 2000-01-01", "standard")));
  EXPECT_TRUE(CalendarTime::parse("days since 2000-01-01", "gregorian")
                  ->shift_to(*CalendarTime::parse("days since 2000-01-01", "")));
  // Fractions of a microsecond, and dates out of the range of 64 bits, are refused.
  EXPECT_FALSE(CalendarTime::parse("days since 2000-01-01 00:00:00.0000005", "").ok());
  EXPECT_FALSE(CalendarTime::parse("days since 300000-01-01", "").ok());
}

}  // namespace
}  // namespace nmb
