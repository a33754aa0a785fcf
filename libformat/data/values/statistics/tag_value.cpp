// Functions for values of tags (see nmb/statistics.h).
#include <bit>
#include <charconv>
#include <cmath>

#include "nmb/statistics.h"

namespace nmb {

std::string tag_text(const TagValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  const double number = std::get<double>(value);
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  std::string out(text, end);
  if (out.find_first_of(".e") == out.npos) out += ".0";
  return out;
}

bool is_same_tag(const TagValue& a, const TagValue& b) {
  if (a.index() != b.index()) return false;
  const auto* const number = std::get_if<double>(&a);
  if (!number) return a == b;
  return std::bit_cast<std::uint64_t>(*number) == std::bit_cast<std::uint64_t>(std::get<double>(b));
}

}  // namespace nmb
