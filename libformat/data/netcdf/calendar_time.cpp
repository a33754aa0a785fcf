#include "netcdf/calendar_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::int64_t kSecond = 1'000'000, kDaySeconds = 86400;
constexpr std::int64_t kMostYear = 999'999;
// Reference dates are stored as microseconds; 64 bits hold 290,000 years.
constexpr std::int64_t kMostReferenceYear = 200'000;

struct Word {
  std::string_view word;
  std::int64_t microseconds;
};
constexpr std::int64_t kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr Word kUnits[] = {
    {"microseconds", 1},    {"microsecond", 1},    {"microsec", 1},    {"microsecs", 1},
    {"milliseconds", 1000}, {"millisecond", 1000}, {"millisec", 1000}, {"millisecs", 1000},
    {"msec", 1000},         {"msecs", 1000},       {"ms", 1000},       {"seconds", kSecond},
    {"second", kSecond},    {"secs", kSecond},     {"sec", kSecond},   {"s", kSecond},
    {"minutes", kMinute},   {"minute", kMinute},   {"mins", kMinute},  {"min", kMinute},
    {"hours", kHour},       {"hour", kHour},       {"hrs", kHour},     {"hr", kHour},
    {"h", kHour},           {"days", kDay},        {"day", kDay},      {"d", kDay},
    {"weeks", 7 * kDay},    {"week", 7 * kDay},
};

struct CalendarWord {
  std::string_view word;
  Calendar calendar;
};
constexpr CalendarWord kCalendars[] = {
    {"", Calendar::kStandard},          {"standard", Calendar::kStandard},
    {"gregorian", Calendar::kStandard}, {"proleptic_gregorian", Calendar::kProleptic},
    {"julian", Calendar::kJulian},      {"noleap", Calendar::kNoLeap},
    {"365_day", Calendar::kNoLeap},     {"all_leap", Calendar::kAllLeap},
    {"366_day", Calendar::kAllLeap},    {"360_day", Calendar::k360Day},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool has_year_zero(Calendar calendar) {
  return calendar != Calendar::kStandard && calendar != Calendar::kJulian;
}

// Returns whether a date is in the Gregorian part of the standard calendar.
bool is_gregorian(std::int64_t year, int month, int day) {
  return year > 1582 || (year == 1582 && (month > 10 || (month == 10 && day >= 15)));
}
constexpr std::int64_t kFirstGregorian = 2'299'161;  // Julian day number of 1582-10-15

bool is_leap(Calendar calendar, std::int64_t year) {
  if (calendar == Calendar::kNoLeap) return false;
  if (calendar == Calendar::kAllLeap) return true;
  const bool by_four = year % 4 == 0;
  if (calendar == Calendar::kJulian || (calendar == Calendar::kStandard && year < 1583))
    return by_four;
  return by_four && (year % 100 != 0 || year % 400 == 0);
}

int days_of_month(Calendar calendar, std::int64_t year, int month) {
  if (calendar == Calendar::k360Day) return 30;
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[static_cast<std::size_t>(month - 1)] +
         (month == 2 && is_leap(calendar, year) ? 1 : 0);
}

// Returns a Julian day number, by the formula of Fliegel and Van Flandern with floored divisions.
std::int64_t julian_day(bool gregorian, std::int64_t year, int month, int day) {
  const std::int64_t a = (14 - month) / 12, y = year + 4800 - a, m = month + 12 * a - 3;
  const std::int64_t days = day + (153 * m + 2) / 5 + 365 * y + floor_div(y, 4);
  return gregorian ? days - floor_div(y, 100) + floor_div(y, 400) - 32045 : days - 32083;
}

void set_julian_day(bool gregorian, std::int64_t number, Date* date) {
  std::int64_t c = number + 32082, b = 0;
  if (gregorian) {
    const std::int64_t a = number + 32044;
    b = floor_div(4 * a + 3, 146097);
    c = a - floor_div(146097 * b, 4);
  }
  const std::int64_t d = floor_div(4 * c + 3, 1461), e = c - floor_div(1461 * d, 4);
  const std::int64_t m = (5 * e + 2) / 153;
  date->day = static_cast<int>(e - (153 * m + 2) / 5 + 1);
  date->month = static_cast<int>(m + 3 - 12 * (m / 10));
  date->year = 100 * b + d - 4800 + m / 10;
}

// Returns the number of a day, counted from day 0 of the calendar.
std::int64_t day_number(Calendar calendar, std::int64_t year, int month, int day) {
  switch (calendar) {
    case Calendar::kStandard:
      return julian_day(is_gregorian(year, month, day), year, month, day);
    case Calendar::kProleptic:
      return julian_day(true, year, month, day);
    case Calendar::kJulian:
      return julian_day(false, year, month, day);
    default:
      break;
  }
  std::int64_t days = day - 1;
  for (int m = 1; m < month; ++m) days += days_of_month(calendar, year, m);
  const std::int64_t length = calendar == Calendar::kNoLeap    ? 365
                              : calendar == Calendar::kAllLeap ? 366
                                                               : 360;
  return year * length + days;
}

Date date_of_day(Calendar calendar, std::int64_t number) {
  Date date;
  switch (calendar) {
    case Calendar::kStandard:
      set_julian_day(number >= kFirstGregorian, number, &date);
      return date;
    case Calendar::kProleptic:
      set_julian_day(true, number, &date);
      return date;
    case Calendar::kJulian:
      set_julian_day(false, number, &date);
      return date;
    default:
      break;
  }
  const std::int64_t length = calendar == Calendar::kNoLeap    ? 365
                              : calendar == Calendar::kAllLeap ? 366
                                                               : 360;
  date.year = floor_div(number, length);
  auto rest = static_cast<int>(number - date.year * length);
  while (rest >= days_of_month(calendar, date.year, date.month))
    rest -= days_of_month(calendar, date.year, date.month++);
  date.day = rest + 1;
  return date;
}

// Reads the parts of a reference date.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void skip_spaces() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    if (text_.empty() || text_[0] < '0' || text_[0] > '9') return {};
    const auto [stop, error] = std::from_chars(text_.data(), end, value);
    if (error != std::errc()) return {};
    digits_ = static_cast<std::size_t>(stop - text_.data());
    text_.remove_prefix(digits_);
    return value;
  }
  // Reads the digits after a decimal point as microseconds. Returns nullopt if they are not whole
  // microseconds.
  std::optional<std::int64_t> fraction() {
    std::int64_t value = 0, scale = kSecond;
    for (; !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; text_.remove_prefix(1)) {
      scale /= 10;
      if (scale == 0 && text_[0] != '0') return {};
      value += (text_[0] - '0') * scale;
    }
    return value;
  }
  // Returns how many digits the last number() has read.
  std::size_t digits() const { return digits_; }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
  std::size_t digits_ = 0;
};

// Reads a time zone: "Z", "UTC", "+1", "-01:30" or "+0130". Returns seconds, or nullopt for other
// texts.
std::optional<std::int64_t> zone(Scanner& in) {
  in.skip_spaces();
  const std::string word = lower(in.rest());
  if (word.empty() || word == "z" || word == "utc" || word == "gmt") return 0;
  const bool is_west = in.take('-');
  if (!is_west && !in.take('+')) return {};
  std::optional<std::int64_t> hours = in.number();
  if (!hours) return {};
  std::int64_t minutes = 0;
  if (in.digits() > 2) {
    minutes = *hours % 100;
    *hours /= 100;
  } else if (in.take(':')) {
    const auto found = in.number();
    if (!found) return {};
    minutes = *found;
  }
  if (!in.rest().empty() || *hours > 23 || minutes > 59) return {};
  const std::int64_t seconds = *hours * 3600 + minutes * 60;
  return is_west ? -seconds : seconds;
}

struct DateText {
  int parts = 0;  // from 1 (only a year) to 6 (with seconds)
  // Whether a zone follows a date without a clock. UDUNITS reads it as a clock, and cftime ignores
  // it.
  bool is_unclear = false;
};

// Returns the microseconds since day 0 of the calendar, or nullopt if the text is not a date.
std::optional<std::int64_t> reference(Calendar calendar, std::string_view text, DateText* found) {
  int& given = found->parts;
  Scanner in(text);
  in.skip_spaces();
  const bool is_negative = in.take('-');
  if (!is_negative) in.take('+');
  const auto year = in.number();
  if (!year || *year > kMostReferenceYear) return {};
  std::int64_t month = 1, day = 1, parts[3] = {0, 0, 0};
  std::optional<std::int64_t> fraction = 0;
  given = 1;
  for (std::int64_t* const part : {&month, &day}) {
    if (!in.take('-')) break;
    const auto number = in.number();
    if (!number) return {};
    *part = *number;
    ++given;
  }
  const std::int64_t y = is_negative ? -*year : *year;
  if (month < 1 || month > 12 || day < 1 ||
      day > days_of_month(calendar, y, static_cast<int>(month)))
    return {};
  if (y < (has_year_zero(calendar) ? 0 : 1)) return {};
  // The day after 1582-10-04 is 1582-10-15.
  if (calendar == Calendar::kStandard && y == 1582 && month == 10 && day > 4 && day < 15) return {};
  if (!in.take('T') && !in.take('t')) in.skip_spaces();
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0 && !in.take(':')) break;
    const auto number = in.number();
    if (!number && i > 0) return {};
    if (!number) break;
    parts[i] = *number;
    ++given;
    if (i == 2 && in.take('.')) fraction = in.fraction();
  }
  if (parts[0] > 24 || parts[1] > 59 || parts[2] > 60 || !fraction) return {};
  const auto shift = zone(in);
  if (!shift) return {};
  if (given <= 3 && *shift != 0) {
    found->is_unclear = true;
    return {};
  }
  const std::int64_t days = day_number(calendar, y, static_cast<int>(month), static_cast<int>(day));
  return (days * kDaySeconds + parts[0] * 3600 + parts[1] * 60 + parts[2] - *shift) * kSecond +
         *fraction;
}

std::string text_of(const Date& date, std::size_t parts) {
  const auto padded = [](std::int64_t value, std::size_t digits) {
    const std::string text = std::to_string(value);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
  };
  std::string out = padded(date.year, 4) + padded(date.month, 2) + padded(date.day, 2);
  const int times[] = {date.hour, date.minute, date.second};
  for (std::size_t i = 0; i < parts; ++i) out += padded(times[i], 2);
  return out;
}

}  // namespace

Result<CalendarTime> CalendarTime::parse(std::string_view units, std::string_view calendar) {
  const auto refused = [](std::string_view what, std::string_view found) {
    return Status(Code::kUnsupported, joined_text(what, " \"", found, "\" is not supported"));
  };
  CalendarTime out;
  const std::string name = lower(calendar);
  const auto known = std::ranges::find(kCalendars, std::string_view(name), &CalendarWord::word);
  if (known == std::end(kCalendars)) return refused("calendar", calendar);
  out.calendar_ = known->calendar;
  const std::string text = lower(units);
  const std::size_t since = text.find(" since ");
  if (since == text.npos) return refused("time units", units);
  std::string_view word(text.data(), since);
  while (word.ends_with(' ')) word.remove_suffix(1);
  while (word.starts_with(' ')) word.remove_prefix(1);
  const auto unit = std::ranges::find(kUnits, word, &Word::word);
  if (unit != std::end(kUnits))
    out.microseconds_ = unit->microseconds;
  else if (out.calendar_ == Calendar::k360Day && (word == "months" || word == "month"))
    out.microseconds_ = 30 * kDay;
  else
    return refused("time units", units);
  constexpr std::size_t kSince = 7;
  DateText date;
  const auto start = reference(out.calendar_, std::string_view(text).substr(since + kSince), &date);
  if (!start && date.is_unclear)
    return Status(Code::kUnsupported,
                  joined_text(refused("time units", units).message(),
                              ": the text after the date could be a time zone or a clock; give "
                              "both, as in 2000-01-01 00:00 +5:30"));
  if (!start) return refused("time units", units);
  out.start_ = *start;
  return out;
}

Result<Date> CalendarTime::date(double value) const {
  // A year has at most 366 days.
  constexpr long double kMost = 366.0L * kMostYear * kDaySeconds;
  const long double seconds =
      (static_cast<long double>(value) * static_cast<long double>(microseconds_) +
       static_cast<long double>(start_)) /
      kSecond;
  if (!std::isfinite(value) || std::fabs(seconds) > 2 * kMost)
    return Status(Code::kUnsupported, joined_text("time ", std::to_string(value), " has no date"));
  // Times in days cannot hold every hour and minute exactly, so a time less than half a millisecond
  // before a second counts as this second.
  const auto whole = static_cast<std::int64_t>(std::floor(seconds + 0.0005L));
  const std::int64_t day = floor_div(whole, kDaySeconds);
  const auto rest = static_cast<int>(whole - day * kDaySeconds);
  Date out = date_of_day(calendar_, day);
  out.hour = rest / 3600;
  out.minute = rest / 60 % 60;
  out.second = rest % 60;
  if (out.year < (has_year_zero(calendar_) ? 0 : 1) || out.year > kMostYear)
    return Status(Code::kUnsupported,
                  joined_text("time ", std::to_string(value), " is in year ",
                              std::to_string(out.year), ", which is not supported"));
  return out;
}

Result<std::int64_t> CalendarTime::microseconds(double value) const {
  const long double time =
      static_cast<long double>(value) * static_cast<long double>(microseconds_) +
      static_cast<long double>(start_);
  constexpr long double kMost = 9e18L;
  if (!std::isfinite(value) || std::fabs(time) > kMost)
    return Status(Code::kUnsupported, joined_text("time ", std::to_string(value), " has no date"));
  const std::int64_t whole = std::llround(time), second = floor_div(whole + 500, kSecond) * kSecond;
  return second > whole ? second : whole;
}

Result<CalendarTime::Span> CalendarTime::span(std::string_view date) const {
  const auto refused = [&](std::string_view why) {
    return Status(Code::kUsage, joined_text("found \"", date, "\", ", why));
  };
  constexpr std::string_view kDigits = "0123456789";
  const bool has_year = date.size() >= 4 && date.find_first_not_of(kDigits) >= 4 &&
                        (date.size() == 4 || date[4] == '-');
  if (!has_year)
    return refused("expected a date as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS");
  DateText found;
  const auto begin = reference(calendar_, date, &found);
  if (!begin) return refused("which is not a date of the calendar of the file");
  Span out{*begin, 0};
  constexpr std::int64_t kLengths[] = {kDay, kHour, kMinute, kSecond};
  if (found.parts > 2) {
    out.end = out.begin + kLengths[found.parts - 3];
    return out;
  }
  const auto number = [&](std::size_t at, std::size_t count) {
    std::int64_t value = 0;
    std::from_chars(date.data() + at, date.data() + std::min(at + count, date.size()), value);
    return value;
  };
  std::int64_t year = number(0, 4), month = found.parts == 2 ? number(5, 2) + 1 : 13;
  if (month == 13) {
    month = 1;
    ++year;
  }
  out.end = day_number(calendar_, year, static_cast<int>(month), 1) * kDaySeconds * kSecond;
  return out;
}

std::optional<TimeShift> CalendarTime::shift_to(const CalendarTime& to) const {
  if (calendar_ != to.calendar_) return std::nullopt;
  return TimeShift{microseconds_, to.microseconds_, start_ - to.start_};
}

Result<TimeRange> time_range(const CalendarTime& time, std::span<const double> values) {
  std::size_t parts = 0;
  Date first, last;
  for (std::size_t i = 0; i < values.size(); ++i) {
    NMB_ASSIGN(const Date date, time.date(values[i]));
    if (i == 0) first = date;
    while (i > 0 && parts < 3 && text_of(date, parts) == text_of(last, parts)) ++parts;
    last = date;
  }
  return TimeRange{text_of(first, parts), text_of(last, parts)};
}

}  // namespace nmb
