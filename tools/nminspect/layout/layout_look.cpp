#include "nminspect/layout/layout_look.h"

#include <fmt/format.h>

#include <array>

namespace nmb::tools {

const RegionLook& look_of(RegionKind kind) {
  static constexpr std::array<RegionLook, kRegionKinds> kLooks{{
      {'h', 240, "#444444", "#b8bec6"},  // head
      {'s', 245, "#808080", "#858d97"},  // superblock
      {'c', 28, "#117733", "#37b066"},   // dictionary
      {'i', 133, "#aa4499", "#d57fc8"},  // index
      {'p', 89, "#882255", "#c25c8c"},   // data map
      {'t', 100, "#999933", "#b9b94f"},  // table
      {'m', 61, "#332288", "#8f82e8"},   // metadata
      {'v', 117, "#88ccee", "#5aa9d2"},  // values
      {'o', 36, "#44aa99", "#3d9a8b"},   // original
      {'w', 186, "#ddcc77", "#d8c871"},  // HDF5 view
      {'x', 167, "#cc6677", "#e0697d"},  // dead
      {'.', 253, "#dfe3e8", "#333a43"},  // unused
      {'?', 249, "#b4bac2", "#565f6b"},  // uncommitted
  }};
  return kLooks[static_cast<std::size_t>(kind)];
}

std::string light_colours() {
  std::string out;
  for (std::size_t k = 0; k < kRegionKinds; ++k)
    out += fmt::format("--k{}: {}; ", k, look_of(static_cast<RegionKind>(k)).light);
  return out;
}

std::string dark_colours() {
  std::string out;
  for (std::size_t k = 0; k < kRegionKinds; ++k)
    out += fmt::format("--k{}: {}; ", k, look_of(static_cast<RegionKind>(k)).dark);
  return out;
}

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace nmb::tools
