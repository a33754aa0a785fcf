// Determines whether output goes to a terminal, and whether it may have colour.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmb::tools {

enum class ColourWhen : std::uint8_t { kAuto, kAlways, kNever };

bool is_terminal(int fd);
// Returns whether to use colour. With kAuto, colour is used if `fd` is a terminal, NO_COLOR is not
// set and TERM is not "dumb".
bool use_colour(ColourWhen when, int fd);

enum class Colour : std::uint8_t { kBold, kYellow };

// Returns `text` with escape codes for `colour` if `use` is true, otherwise `text` unchanged.
std::string coloured(std::string_view text, Colour colour, bool use);

// Returns the code after which text has the background `colour` of 256 colours, and a colour that
// can be read on it.
std::string on_background(std::uint8_t colour);
inline constexpr std::string_view kEndOfColour = "\x1b[0m";

// Returns the number of columns of the terminal on standard output; 80 if the number is unknown.
std::size_t terminal_width();
// Returns the number of lines of the terminal on standard output; 24 if the number is unknown.
std::size_t terminal_height();

// Returns how many columns a valid UTF-8 text occupies on a terminal, if each character occupies
// one column.
std::size_t display_width(std::string_view text);

}  // namespace nmb::tools
