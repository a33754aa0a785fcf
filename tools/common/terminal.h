// Whether output goes to a terminal, and whether it may have colour.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmb::tools {

enum class ColourWhen : std::uint8_t { kAuto, kAlways, kNever };

bool is_terminal(int fd);
// kAuto: colour on a terminal, unless NO_COLOR is set or TERM is "dumb".
bool use_colour(ColourWhen when, int fd);

enum class Colour : std::uint8_t { kBold, kYellow };

// Returns `text` in a colour if `use`, otherwise unchanged.
std::string coloured(std::string_view text, Colour colour, bool use);

// Returns how many columns valid UTF-8 takes; each character counts as one.
std::size_t display_width(std::string_view text);

}  // namespace nmb::tools
