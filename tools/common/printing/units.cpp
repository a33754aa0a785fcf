#include "common/printing/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace nmb::tools {

constexpr std::string_view kPrefixes = "KMGTPE";

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t prefix = 0;
  // A value of 1023.95 or more would be rounded to 1024.0, so the next unit is used.
  while (value >= 1023.95 && prefix + 1 < kPrefixes.size()) {
    value /= 1024;
    ++prefix;
  }
  return fmt::format("{:.1f} {}iB", value, kPrefixes[prefix]);
}

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t bytes, bool exact) {
  return exact ? std::to_string(bytes) : human_bytes(bytes);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const Status wrong(Code::kUsage,
                     "found \"" + std::string(text) +
                         "\", expected a number of bytes, for example 4096, 256M or 1.5GiB");
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return wrong;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (!unit.empty() && unit != "B") {
    const auto upper = static_cast<char>(unit.front() & ~0x20);
    const std::size_t prefix = kPrefixes.find(upper);
    const std::string_view tail = unit.substr(1);
    if (prefix == kPrefixes.npos || (!tail.empty() && tail != "i" && tail != "iB" && tail != "B"))
      return wrong;
    value *= std::pow(tail == "B" ? 1000.0 : 1024.0, static_cast<double>(prefix + 1));
  }
  if (value >= 0x1p63) return wrong;
  return static_cast<std::uint64_t>(value);
}

}  // namespace nmb::tools
