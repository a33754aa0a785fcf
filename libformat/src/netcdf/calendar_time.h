// CalendarTime: dates of time coordinates by the calendars of the CF conventions (section 4.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

struct Date {
  std::int64_t year = 0;
  int month = 1, day = 1;
  int hour = 0, minute = 0, second = 0;
};

enum class Calendar : std::uint8_t { kStandard, kProleptic, kJulian, kNoLeap, kAllLeap, k360Day };

// The units of a time coordinate, as "days since 1850-01-01", with its calendar.
class CalendarTime {
 public:
  // calendar: the attribute of that name; "": standard. Units are weeks, days, hours, minutes,
  // seconds, milliseconds and microseconds; in calendar 360_day also months. Errors (with a message
  // only): kUnsupported for other units and calendars, and for year 0 in calendars without it.
  NMB_EXPORT static Result<CalendarTime> parse(std::string_view units, std::string_view calendar);

  // Returns a date, rounded to seconds. Errors: kUnsupported for values that are not finite, and
  // for years before 1 (before 0 in calendars that have that year) or after 999,999.
  NMB_EXPORT Result<Date> date(double value) const;

 private:
  Calendar calendar_ = Calendar::kStandard;
  std::int64_t start_ = 0;         // in microseconds, from the calendar's day 0
  std::int64_t microseconds_ = 1;  // of one unit
};

struct TimeRange {
  std::string first, last;
};

// Returns the first and the last of ascending times as YYYYMMDD. If several times are on one day,
// hours follow (YYYYMMDDHH), and minutes and seconds if it takes these to tell times apart. Errors:
// those of date(); `values` must not be empty.
NMB_EXPORT Result<TimeRange> time_range(const CalendarTime& time, std::span<const double> values);

}  // namespace nmb
