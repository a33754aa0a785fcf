// CalendarTime: computes dates of time coordinates in the calendars of the CF conventions (section
// 4.4).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb {

struct Date {
  std::int64_t year = 0;
  int month = 1, day = 1;
  int hour = 0, minute = 0, second = 0;
};

enum class Calendar : std::uint8_t { kStandard, kProleptic, kJulian, kNoLeap, kAllLeap, k360Day };

// Converts times from one unit and origin to another: time * from + shift == result * to.
struct TimeShift {
  std::int64_t from = 1, to = 1, shift = 0;  // in microseconds
  bool operator==(const TimeShift&) const = default;
};

// The units of a time coordinate, such as "days since 1850-01-01", and its calendar.
class CalendarTime {
 public:
  // calendar: the attribute of this name; an empty text means "standard". The unit may be weeks,
  // days, hours, minutes, seconds, milliseconds or microseconds, and also months in calendar
  // 360_day. Errors (with a message only): kUnsupported for other units and calendars, for year 0
  // in calendars that do not have it, and for a time zone without a clock, which programs read
  // differently.
  NMB_EXPORT static Result<CalendarTime> parse(std::string_view units, std::string_view calendar);

  // Returns a date without fractions of a second. Errors: kUnsupported for values that are not
  // finite, for years after 999,999, and for years before the first year of the calendar, which is
  // 0 or 1.
  NMB_EXPORT Result<Date> date(double value) const;

  // Returns a time in microseconds since day 0 of the calendar. A time less than half a millisecond
  // before a second counts as this second. Errors: kUnsupported for values that are not finite or
  // too large.
  NMB_EXPORT Result<std::int64_t> microseconds(double value) const;

  // The time that a text means: `begin` and later, but before `end`, both as microseconds() returns
  // them. "1990" means the whole year, "1990-03-01T12" a whole hour.
  struct Span {
    std::int64_t begin = 0, end = 0;
  };
  // Parses YYYY[-MM[-DD[THH[:MM[:SS]]]]]. Errors (with a message only): kUsage for other texts and
  // for dates that the calendar does not have.
  NMB_EXPORT Result<Span> span(std::string_view date) const;

  // Returns how values in these units become values in the units `to`, or nullopt if the calendars
  // differ.
  NMB_EXPORT std::optional<TimeShift> shift_to(const CalendarTime& to) const;

 private:
  Calendar calendar_ = Calendar::kStandard;
  std::int64_t start_ = 0;         // in microseconds since day 0 of the calendar
  std::int64_t microseconds_ = 1;  // in one unit
};

struct TimeRange {
  std::string first, last;
};

// Returns the first and the last of ascending times as YYYYMMDD. Adds the hours (YYYYMMDDHH) if
// several times are on the same day, and minutes and seconds if times differ only in these.
// `values` must not be empty. Errors: those of date().
NMB_EXPORT Result<TimeRange> time_range(const CalendarTime& time, std::span<const double> values);

}  // namespace nmb
