// Dates that users write, in the calendars of the CF conventions.
#include "netcdf/calendar_time.h"

#include <gtest/gtest.h>

namespace nmb {
namespace {

CalendarTime days(std::string_view calendar) {
  return *CalendarTime::parse("days since 2000-01-01", calendar);
}

// Checks the first day of a span, and the day after its last day, as days since 2000-01-01.
void expect_span(std::string_view calendar, std::string_view date, double first, double end) {
  const CalendarTime time = days(calendar);
  const Result<CalendarTime::Span> span = time.span(date);
  ASSERT_TRUE(span.ok()) << date << ": " << span.status().text();
  EXPECT_EQ(span->begin, *time.microseconds(first)) << calendar << " " << date;
  EXPECT_EQ(span->end, *time.microseconds(end)) << calendar << " " << date;
}

TEST(CalendarTime, SpansOfDates) {
  expect_span("standard", "2000", 0, 366);
  expect_span("standard", "2000-02", 31, 60);
  expect_span("standard", "2000-12", 335, 366);
  expect_span("standard", "2000-02-29", 59, 60);
  expect_span("standard", "2000-02-29T12", 59.5, 59.5 + 1. / 24);
  expect_span("standard", "2000-02-29T12:30", 59.5 + 30. / 1440, 59.5 + 31. / 1440);
  expect_span("standard", "1999-12-31", -1, 0);
  expect_span("noleap", "2000", 0, 365);
  expect_span("noleap", "2000-02", 31, 59);
  expect_span("360_day", "2000-02-30", 59, 60);
  expect_span("360_day", "2001", 360, 720);
}

TEST(CalendarTime, RefusesOtherTexts) {
  for (const std::string_view text : {"", "200", "200001", "20000101", "2000-13", "2000-00",
                                      "2000-02-30", "2000-01-01T25", "2000-01-01x", "x", "-2000"})
    EXPECT_EQ(days("standard").span(text).status().code(), Code::kUsage) << text;
  EXPECT_FALSE(days("noleap").span("2000-02-29").ok());
  EXPECT_FALSE(days("360_day").span("2000-01-31").ok());
}

// A zone needs a clock.
TEST(CalendarTime, ZonesWithoutClocks) {
  for (const std::string_view units :
       {"hours since 1990-1-1 +5:30", "hours since 1990-1-1 -5", "hours since 1990-01-01T+0530",
        "hours since 1990 +1", "days since 1990-01-01-1"}) {
    const auto time = CalendarTime::parse(units, "standard");
    ASSERT_EQ(time.status().code(), Code::kUnsupported) << units;
    EXPECT_NE(time.status().message().find("time zone or a clock"), std::string::npos)
        << time.status().text();
  }
  const auto expected = CalendarTime::parse("hours since 1989-12-31 18:30", "standard");
  const auto with_clock = CalendarTime::parse("hours since 1990-1-1 00:00 +5:30", "standard");
  ASSERT_TRUE(expected.ok() && with_clock.ok());
  EXPECT_EQ(*with_clock->microseconds(0), *expected->microseconds(0));
  for (const std::string_view units :
       {"hours since 1990-1-1 UTC", "hours since 1990-1-1Z", "hours since 1990-1-1 +0:00",
        "hours since 1990-1-1 5:30", "hours since 1990-1-1 0 -1"})
    EXPECT_TRUE(CalendarTime::parse(units, "standard").ok()) << units;
}

// A time just before a second counts as this second.
TEST(CalendarTime, TimesNearSeconds) {
  const CalendarTime time = days("standard");
  EXPECT_EQ(*time.microseconds(1 - 1e-9), *time.microseconds(1));
  EXPECT_LT(*time.microseconds(1 - 1e-8), *time.microseconds(1));
}

}  // namespace
}  // namespace nmb
