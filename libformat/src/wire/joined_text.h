// joined_text(): texts of several parts, as messages have them; failures made of parts.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

inline std::string_view part_of_text(std::string_view part) { return part; }
inline std::string part_of_text(char part) { return {part}; }
std::string part_of_text(std::integral auto part) { return std::to_string(part); }

// Parts are texts, characters, and integers, which are decimal; a std::uint8_t is an integer.
std::string joined_text(const auto&... parts) {
  std::string text;
  (text.append(part_of_text(parts)), ...);
  return text;
}

// A status whose message has these parts.
Status failure(Code code, const auto&... parts) { return Status(code, joined_text(parts...)); }

}  // namespace nmb
