// Joins several parts into one text, for example a message.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb {

inline std::string_view part_of_text(std::string_view part) { return part; }
inline std::string part_of_text(char part) { return {part}; }
std::string part_of_text(std::integral auto part) { return std::to_string(part); }

// A part is a text, a character or an integer. Integers, including std::uint8_t, are written in
// decimal.
std::string joined_text(const auto&... parts) {
  std::string text;
  (text.append(part_of_text(parts)), ...);
  return text;
}

// Returns the text of a number that a program gave: if it is above 2^63 - 1, it was negative.
inline std::string given_text(std::uint64_t number) {
  return std::to_string(static_cast<std::int64_t>(number));
}

// Returns "A, B or C".
inline std::string alternatives_text(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
  return text;
}

// Returns a status whose message is joined from these parts.
Status failure(Code code, const auto&... parts) { return Status(code, joined_text(parts...)); }

}  // namespace nmb
