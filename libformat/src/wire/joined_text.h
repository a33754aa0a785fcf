// Text of parts, as messages have it.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace nmb {

// Parts are strings, characters and whole numbers, which are written in decimal digits.
template <typename... Parts>
std::string joined_text(const Parts&... parts) {
  std::string text;
  const auto add = [&text]<typename Part>(const Part& part) {
    if constexpr (std::convertible_to<const Part&, std::string_view>)
      text += std::string_view(part);
    else if constexpr (std::same_as<Part, char>)
      text += part;
    else
      text += std::to_string(part);
  };
  (add(parts), ...);
  return text;
}

}  // namespace nmb
