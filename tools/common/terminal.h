// Whether output goes to a terminal, and whether it may have colour.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmb::tools {

enum class ColourWhen : std::uint8_t { kAuto, kAlways, kNever };

bool is_terminal(int fd);
// kAuto: a terminal, unless NO_COLOR is set or TERM is "dumb".
bool use_colour(ColourWhen when, int fd);

enum class Colour : std::uint8_t { kBold, kRed, kYellow, kGreen };

// `text` in a colour, or as it is.
std::string coloured(std::string_view text, Colour colour, bool use);

// Columns that valid UTF-8 takes, each character counted as one.
std::size_t display_width(std::string_view text);

}  // namespace nmb::tools
