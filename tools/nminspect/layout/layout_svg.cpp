// The map of a file as an SVG picture (see layout_files.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/printing/units.h"
#include "model/text.h"
#include "nminspect/layout/layout_files.h"
#include "nminspect/layout/layout_look.h"

namespace nmb::tools {

namespace {

constexpr std::size_t kMostRows = 12, kMostColumns = 200;
constexpr int kWidth = 1000, kMargin = 24, kGutter = 84;
constexpr int kMapWidth = kWidth - 2 * kMargin - kGutter;
constexpr int kMapTop = 84, kRowHeight = 22, kPitch = 27;
constexpr int kLine = 20;           // height of a line of text
constexpr double kCharacter = 6.3;  // width of a character of a name in the map
constexpr double kLeastLabel = 60;  // width of the narrowest region with a name
constexpr std::size_t kMostLabels = 60;

// Returns the first `most` characters of a text, with "…" in place of characters that are left out.
std::string shortened(const std::string& text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t characters = 0; at < text.size(); ++characters) {
    if (characters + 1 == most && at + 1 < text.size()) return text.substr(0, at) + "…";
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return text;
}

// Returns the colour of text on a background "#rrggbb".
const char* text_on(const char* background) {
  const unsigned long rgb = std::stoul(background + 1, nullptr, 16);
  // Relative luminance as WCAG defines it. Above 0.179, black has more contrast than white.
  const auto linear = [&](int bits) {
    const double c = static_cast<double>(rgb >> bits & 255) / 255;
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double light = 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
  return light > 0.179 ? "#000" : "#fff";
}

std::string style() {
  std::string light, dark;
  for (std::size_t k = 0; k < kRegionKinds; ++k) {
    const RegionLook& look = look_of(static_cast<RegionKind>(k));
    light += fmt::format(".k{0}{{fill:{1}}}.o{0}{{fill:{2}}}", k, look.light, text_on(look.light));
    dark += fmt::format(".k{0}{{fill:{1}}}.o{0}{{fill:{2}}}", k, look.dark, text_on(look.dark));
  }
  return "text{font:13px system-ui,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif;fill:#1b1f24;"
         "font-variant-numeric:tabular-nums}.page{fill:#fff}.soft{fill:#5b6470}"
         ".head{font-size:17px;font-weight:600}.name{font-size:11px}.bold{font-weight:600}"
         ".end{text-anchor:end}" +
         light +
         "@media(prefers-color-scheme:dark){.page{fill:#14171b}text{fill:#e6e9ed}"
         ".soft{fill:#9aa4b0}" +
         dark + "}";
}

// The map: the file in rows, from left to right and from top to bottom.
class Map {
 public:
  explicit Map(const MappedFile& file) : file_(file) {
    size_ = file.layout.regions.empty() ? 0 : file.layout.regions.back().end();
    columns_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(size_, 1, kMostColumns));
    rows_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(size_ / columns_, 1, kMostRows));
  }

  int height() const { return static_cast<int>(rows_) * kPitch; }

  std::string text() const {
    std::string out;
    for (std::size_t row = 0; row < rows_; ++row)
      out += fmt::format("<text class=\"name soft end\" x=\"{}\" y=\"{}\">{}</text>\n",
                         kMargin + kGutter - 10, kMapTop + static_cast<int>(row) * kPitch + 15,
                         human_bytes(size_ / rows_ * row + size_ % rows_ * row / rows_));
    out += fmt::format("<g transform=\"translate({} {}) scale({:.4f} 1)\">\n", kMargin + kGutter,
                       kMapTop, static_cast<double>(kMapWidth) / static_cast<double>(columns_));
    const std::array<std::string, kRegionKinds> paths = rectangles();
    for (std::size_t k = 0; k < kRegionKinds; ++k)
      if (!paths[k].empty()) out += fmt::format("<path class=\"k{}\" d=\"{}\"/>\n", k, paths[k]);
    return out + "</g>\n" + labels();
  }

 private:
  // A rectangle that may still grow to the right.
  struct OpenRectangle {
    std::size_t begin = 0, end = 0;
    int top = 0, height = 0;
  };

  // Returns the path of all rectangles of each kind. If a column has several kinds, each kind has
  // its share of the height, and at least one pixel.
  std::array<std::string, kRegionKinds> rectangles() const {
    std::array<std::string, kRegionKinds> paths;
    const std::vector<BytesOfKinds> parts = parts_of(file_.layout, rows_ * columns_);
    for (std::size_t row = 0; row < rows_; ++row) {
      std::array<OpenRectangle, kRegionKinds> runs{};
      const auto put = [&](std::size_t kind) {
        OpenRectangle& run = runs[kind];
        if (run.height > 0)
          paths[kind] +=
              fmt::format("M{} {}h{}v{}h-{}z", run.begin, static_cast<int>(row) * kPitch + run.top,
                          run.end - run.begin, run.height, run.end - run.begin);
        run = {};
      };
      for (std::size_t column = 0; column < columns_ && row * columns_ + column < parts.size();
           ++column) {
        const std::array<int, kRegionKinds> heights = heights_of(parts[row * columns_ + column]);
        int top = 0;
        for (std::size_t kind = kRegionKinds; kind-- > 0;) {
          OpenRectangle& run = runs[kind];
          if (run.height != heights[kind] || run.top != top || run.end != column) {
            put(kind);
            run = {column, column, top, heights[kind]};
          }
          run.end = column + 1;
          top += heights[kind];
        }
      }
      for (std::size_t kind = 0; kind < kRegionKinds; ++kind) put(kind);
    }
    return paths;
  }

  static std::array<int, kRegionKinds> heights_of(const BytesOfKinds& part) {
    std::uint64_t all = 0;
    for (const std::uint64_t bytes : part) all += bytes;
    std::array<int, kRegionKinds> heights{};
    int left = kRowHeight;
    for (std::size_t kind = 0; kind < kRegionKinds; ++kind) {
      if (part[kind] == 0) continue;
      const double share = static_cast<double>(part[kind]) / static_cast<double>(all);
      heights[kind] = std::max(1, static_cast<int>(std::lround(kRowHeight * share)));
      left -= heights[kind];
    }
    heights[static_cast<std::size_t>(main_kind(part))] += left;
    return heights;
  }

  // Returns the names of regions that have room for them.
  std::string labels() const {
    std::string out;
    const double row_bytes = static_cast<double>(size_) / static_cast<double>(rows_);
    std::size_t count = 0;
    for (const Region& region : file_.layout.regions) {
      // The first row in which the region is wide enough.
      double from = static_cast<double>(region.position);
      const double end = static_cast<double>(region.end());
      if ((end - from) / row_bytes * kMapWidth < kLeastLabel) continue;
      auto row = static_cast<std::size_t>(from / row_bytes);
      double room = (std::min(end, row_bytes * static_cast<double>(row + 1)) - from) / row_bytes;
      if (room * kMapWidth < kLeastLabel) {
        from = row_bytes * static_cast<double>(++row);
        room = std::min(1.0, (end - from) / row_bytes);
      }
      if (row >= rows_ || room * kMapWidth < kLeastLabel) continue;
      if (++count > kMostLabels) break;
      // A line where the region begins.
      double whole = 0;
      const double begin = std::modf(static_cast<double>(region.position) / row_bytes, &whole);
      out += fmt::format("<path class=\"page\" d=\"M{:.1f} {}h1v{}h-1z\"/>\n",
                         kMargin + kGutter + begin * kMapWidth,
                         kMapTop + static_cast<int>(whole) * kPitch, kRowHeight);
      const std::string name = region.owner.of == RegionOwner::Of::kFile
                                   ? std::string(region_name(region.kind))
                                   : printable(file_.names.of(region.owner));
      const double x = (from / row_bytes - static_cast<double>(row)) * kMapWidth;
      out +=
          fmt::format("<text class=\"name o{}\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                      static_cast<int>(region.kind), kMargin + kGutter + x + 5,
                      kMapTop + static_cast<int>(row) * kPitch + 15,
                      markup_text(shortened(
                          name, static_cast<std::size_t>((room * kMapWidth - 10) / kCharacter))));
    }
    return out;
  }

  const MappedFile& file_;
  std::uint64_t size_ = 0;
  std::size_t rows_ = 1, columns_ = 1;
};

// Returns the kinds and their bytes as lines of text in columns.
std::string kinds_text(const LayoutTotals& totals, std::uint64_t size, int top, int* height) {
  constexpr int kColumns = 3, kColumnWidth = (kWidth - 2 * kMargin) / kColumns;
  std::string out;
  int at = 0;
  for (std::size_t k = 0; k < kRegionKinds; ++k) {
    if (totals.regions[k] == 0) continue;
    const int x = kMargin + at % kColumns * kColumnWidth, y = top + at / kColumns * kLine;
    ++at;
    out += fmt::format(
        "<rect class=\"k{}\" x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" rx=\"2\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text><text class=\"end\" x=\"{}\" y=\"{}\">{}</text>"
        "<text class=\"end soft\" x=\"{}\" y=\"{}\">{}</text>\n",
        k, x, y - 10, x + 20, y, region_name(static_cast<RegionKind>(k)), x + 205, y,
        human_bytes(totals.bytes[k]), x + 280, y, markup_text(share_text(totals.bytes[k], size)));
  }
  *height = (at + kColumns - 1) / kColumns * kLine;
  return out;
}

std::string largest_text(const MappedFile& file, const LayoutTotals& totals, std::uint64_t size,
                         int top) {
  std::string out =
      fmt::format("<text class=\"bold\" x=\"{}\" y=\"{}\">Largest parts</text>\n", kMargin, top);
  for (const OwnerTotal& total : totals.largest) {
    top += kLine;
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\">{}</text><text class=\"soft end\" x=\"{}\" y=\"{}\">{}</text>"
        "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>"
        "<text class=\"end soft\" x=\"{}\" y=\"{}\">{}</text>\n",
        kMargin, top, markup_text(shortened(printable(file.names.of(total.owner)), 84)),
        kWidth - kMargin - 220, top, owner_word(total.owner.of), kWidth - kMargin - 90, top,
        human_bytes(total.bytes), kWidth - kMargin, top,
        markup_text(share_text(total.bytes, size)));
  }
  return out;
}

}  // namespace

Status write_layout_svg(const MappedFile& file, const LayoutTotals& totals, const TextSink& sink) {
  const std::uint64_t size = file.layout.regions.empty() ? 0 : file.layout.regions.back().end();
  const Map map(file);
  int y = kMapTop + map.height() + kLine;
  int kinds_height = 0;
  const std::string kinds = kinds_text(totals, size, y, &kinds_height);
  y += kinds_height + kLine / 2;
  std::string largest;
  if (!totals.largest.empty()) {
    largest = largest_text(file, totals, size, y + kLine / 2);
    y += kLine * static_cast<int>(totals.largest.size() + 1) + kLine / 2;
  }
  const std::string name = markup_text(printable(file.name));
  return sink(fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"Layout of a file\">\n<title>Layout of {2}</title>\n"
      "<style>{3}</style>\n<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n"
      "<text class=\"head\" x=\"{4}\" y=\"36\">{5}</text>\n"
      "<text class=\"soft\" x=\"{4}\" y=\"58\">{6} · {7}{8} · {9} regions</text>\n{10}{11}{12}"
      "</svg>\n",
      kWidth, y, name, style(), kMargin, markup_text(shortened(printable(file.name), 90)),
      file.format, human_bytes(size),
      file.layout.generation > 0 ? fmt::format(" · generation {}", file.layout.generation) : "",
      file.layout.regions.size(), map.text(), kinds, largest));
}

}  // namespace nmb::tools
