// Maps of a file as a picture (SVG) and as a page (HTML), for `nminspect layout`.
#pragma once

#include <string>

#include "dump/dump.h"
#include "nminspect/layout/layout_totals.h"
#include "verify/layout.h"

namespace nmb::tools {

// The facts about a file that its map states.
struct MappedFile {
  std::string name;
  std::string format;  // "NMB", "CDF-5"
  const Layout& layout;
  const OwnerNames& names;
};

// Writes an SVG picture of at most some 200 KB with the map, the kinds and the largest blocks.
Status write_layout_svg(const MappedFile& file, const LayoutTotals& totals, const TextSink& sink);

inline constexpr std::size_t kMostPageRegions = 1'000'000;

// Writes a page that needs no other file and no network. Errors: kLimit if the file has more than
// kMostPageRegions regions, or 2^53 bytes or more.
Status write_layout_page(const MappedFile& file, const TextSink& sink);

}  // namespace nmb::tools
