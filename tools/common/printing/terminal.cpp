#include "common/printing/terminal.h"

#include <sys/ioctl.h>
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

std::string on_background(std::uint8_t colour) {
  // Light colours of the cube of 6 x 6 x 6 colours and light greys need black text.
  const bool is_grey = colour >= 232;
  const int rest = colour - 16;
  const int light = 2 * (rest / 36) + 4 * (rest / 6 % 6) + rest % 6;
  const bool is_light = is_grey ? colour >= 244 : light >= 17;
  return "\x1b[48;5;" + std::to_string(colour) + (is_light ? ";38;5;16m" : ";38;5;231m");
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::size_t terminal_height() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace nmb::tools
