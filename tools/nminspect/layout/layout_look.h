// How maps of a file show the kinds of regions: letters and colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "verify/layout.h"

namespace nmb::tools {

struct RegionLook {
  char letter;               // on a terminal
  std::uint8_t terminal;     // background colour on a terminal with 256 colours
  const char *light, *dark;  // colours on a light and on a dark page
};

// The colours can be distinguished by people with colour blindness: most are Paul Tol's "muted".
const RegionLook& look_of(RegionKind kind);

// Return one colour for each kind of region, as custom properties of CSS: "--k0: #444444; ...".
std::string light_colours();
std::string dark_colours();

// Returns a text for HTML and SVG, also for the value of an attribute: '&', '<', '>' and '"' become
// entities.
std::string markup_text(std::string_view text);

}  // namespace nmb::tools
