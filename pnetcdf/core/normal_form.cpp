#include "normal_form.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "normal_form_table.h"

namespace nmb::pnetcdf {

namespace {

using Point = char32_t;

// Syllables of Hangul are composed by arithmetic (Unicode, section 3.12).
constexpr Point kSyllables = 0xac00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11a7;
constexpr Point kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr Point kSyllableCount = kLeadCount * kVowelCount * kTailCount;

std::vector<Point> points_of(std::string_view text) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    Point point = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k)
      point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
    points.push_back(point);
    i += length;
  }
  return points;
}

void append(Point point, std::string* text) {
  const auto put = [&](Point byte) { text->push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

unsigned combining_class(Point point) {
  const auto found =
      std::ranges::lower_bound(kCombining, point, {}, [](const Combining& c) { return c.point; });
  return found != std::end(kCombining) && found->point == point ? found->combining : 0;
}

void decompose(Point point, std::vector<Point>* out) {
  if (const Point index = point - kSyllables; index < kSyllableCount) {
    out->push_back(kLeads + index / (kVowelCount * kTailCount));
    out->push_back(kVowels + index % (kVowelCount * kTailCount) / kTailCount);
    if (const Point tail = index % kTailCount; tail != 0) out->push_back(kTails + tail);
    return;
  }
  const auto found = std::ranges::lower_bound(kDecompositions, point, {},
                                              [](const Decomposition& d) { return d.point; });
  if (found == std::end(kDecompositions) || found->point != point) {
    out->push_back(point);
    return;
  }
  decompose(found->first, out);
  if (found->second != 0) out->push_back(found->second);
}

// Returns the composition of two code points, or 0.
Point compose(Point first, Point second) {
  if (const Point lead = first - kLeads; lead < kLeadCount)
    if (const Point vowel = second - kVowels; vowel < kVowelCount)
      return kSyllables + (lead * kVowelCount + vowel) * kTailCount;
  if (const Point index = first - kSyllables; index < kSyllableCount && index % kTailCount == 0)
    if (const Point tail = second - kTails; tail > 0 && tail < kTailCount) return first + tail;
  const auto key = [](const Composition& c) { return std::uint64_t{c.first} << 32 | c.second; };
  const std::uint64_t wanted = std::uint64_t{first} << 32 | second;
  const auto found = std::ranges::lower_bound(kCompositions, wanted, {}, key);
  return found != std::end(kCompositions) && key(*found) == wanted ? found->point : 0;
}

}  // namespace

std::string normal_form(std::string_view text) {
  std::vector<Point> all;
  for (const Point point : points_of(text)) decompose(point, &all);
  for (auto run = all.begin(); run != all.end();) {
    if (combining_class(*run) == 0) {
      ++run;
      continue;
    }
    const auto end = std::find_if(run, all.end(), [](Point p) { return combining_class(p) == 0; });
    std::stable_sort(run, end,
                     [](Point a, Point b) { return combining_class(a) < combining_class(b); });
    run = end;
  }
  std::vector<Point> out;
  std::size_t starter = 0;
  bool has_starter = false;
  unsigned last = 0;
  for (const Point point : all) {
    const unsigned combining = combining_class(point);
    const bool adjacent = has_starter && out.size() == starter + 1;
    if (has_starter && (adjacent || (last < combining))) {
      if (const Point composed = compose(out[starter], point); composed != 0) {
        out[starter] = composed;
        continue;
      }
    }
    if (combining == 0) {
      starter = out.size();
      has_starter = true;
    }
    last = combining;
    out.push_back(point);
  }
  std::string made;
  for (const Point point : out) append(point, &made);
  return made;
}

}  // namespace nmb::pnetcdf
