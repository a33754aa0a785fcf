// Numbers as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nmb {

// Returns the number if the text has only decimal digits and the number fits into 64 bits.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace nmb
