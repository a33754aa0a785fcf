// Terminals and colour (see terminal.h).
#include "common/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace nmb::tools {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

bool use_colour(ColourWhen when, int fd) {
  if (when != ColourWhen::kAuto) return when == ColourWhen::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color && *no_color) return false;
  const char* term = std::getenv("TERM");
  return is_terminal(fd) && !(term && std::string_view(term) == "dumb");
}

std::string coloured(std::string_view text, Colour colour, bool use) {
  if (!use) return std::string(text);
  constexpr std::string_view kStart[] = {"\x1b[1m", "\x1b[33m"};
  return std::string(kStart[static_cast<std::size_t>(colour)]) + std::string(text) + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace nmb::tools
