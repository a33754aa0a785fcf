// Whether output goes to a terminal, and whether it may have colour.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmb::tools {

enum class ColourWhen : std::uint8_t { kAuto, kAlways, kNever };

bool is_terminal(int fd);
// Returns whether to use colour. kAuto means: on a terminal, unless NO_COLOR is set or TERM is
// "dumb".
bool use_colour(ColourWhen when, int fd);

enum class Colour : std::uint8_t { kBold, kYellow };

// Returns `text` with escape codes for `colour` if `use` is true, otherwise `text` unchanged.
std::string coloured(std::string_view text, Colour colour, bool use);

// Returns how many columns a valid UTF-8 text occupies, if each character occupies one.
std::size_t display_width(std::string_view text);

}  // namespace nmb::tools
