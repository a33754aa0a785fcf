#include "ranks/lustre_striping.h"

#include <algorithm>

#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kMostMebibytes = 16;

std::string for_shell(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+:@%,=-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

}  // namespace

LustreStriping lustre_striping(std::uint64_t data_bytes, int targets, int aggregators) {
  const std::uint64_t mebibytes =
      std::clamp<std::uint64_t>(data_bytes / kGigabyte, 1, kMostMebibytes);
  return {std::max(1, std::min(targets, aggregators)), mebibytes * kMebibyte};
}

std::string lustre_command(const LustreStriping& striping, std::string_view folder) {
  return joined_text("lfs setstripe -c ", striping.count, " -S ", striping.size / kMebibyte, "M ",
                     for_shell(folder));
}

}  // namespace nmb
