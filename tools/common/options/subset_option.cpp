#include "common/options/subset_option.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/options/block_name.h"
#include "common/options/slab.h"
#include "handles/glob.h"

namespace nmb::tools {

namespace {

Status wrong(const char* option, std::string_view found, const std::string& expected) {
  return Status(Code::kUsage, std::string(option) + ": found \"" + std::string(found) +
                                  "\", expected " + expected);
}

// Returns the parts between commas.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find(',')) != text.npos; text.remove_prefix(end + 1))
    parts.emplace_back(text.substr(0, end));
  parts.emplace_back(text);
  return parts;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

Status parse_variables(const std::string& text, SubsetRules* rules) {
  for (const std::string& part : parts_of(text)) {
    if (part.empty()) return wrong("--variables", text, "names of variables, separated by commas");
    NMB_ASSIGN(NamePattern pattern, NamePattern::glob(name_from_user(part)));
    rules->variables.push_back({part, [pattern = std::move(pattern)](std::string_view name) {
                                  return pattern.matches(name);
                                }});
  }
  return {};
}

Status parse_slabs(const std::string& text, SubsetRules* rules) {
  for (const std::string& part : parts_of(text)) {
    const std::size_t equals = part.rfind('=');
    if (equals == part.npos || equals == 0) return wrong("--slab", part, "DIM=START:COUNT:STRIDE");
    SubsetRules::Slab slab{part.substr(0, equals)};
    NMB_ASSIGN(const SlabOfDimension one, parse_slab(std::string_view(part).substr(equals + 1)));
    slab.start = one.start;
    slab.count = one.count;
    slab.stride = one.stride;
    if (slab.count == 0) return wrong("--slab", part, "a count of at least 1");
    rules->slabs.push_back(std::move(slab));
  }
  return {};
}

Status parse_time(const std::string& text, SubsetRules* rules) {
  const std::vector<std::string> parts = parts_of(text);
  const bool is_range = parts.size() == 2 && !(parts[0].empty() && parts[1].empty());
  if (!is_range && (parts.size() != 1 || parts[0].empty()))
    return wrong("--time", text, "FROM,TO, for example 1990-01,1994-12");
  rules->times = {parts.front(), parts.back()};
  return {};
}

Status parse_box(const std::string& text, SubsetRules* rules) {
  constexpr const char* kExpected = "WEST,EAST,SOUTH,NORTH or COORDINATE=FROM:TO";
  const std::vector<std::string> parts = parts_of(text);
  if (text.find('=') == text.npos) {
    double limits[4];
    if (parts.size() != 4) return wrong("--box", text, kExpected);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::optional<double> limit = number_of(parts[i]);
      if (!limit) return wrong("--box", parts[i], "a number of degrees");
      limits[i] = *limit;
    }
    if (rules->box)
      return Status(Code::kUsage, "--box: found two boxes of longitudes and latitudes");
    rules->box = {limits[0], limits[1], limits[2], limits[3]};
    return {};
  }
  for (const std::string& part : parts) {
    const std::size_t equals = part.rfind('='), colon = part.find(':', equals);
    if (equals == part.npos || equals == 0 || colon == part.npos)
      return wrong("--box", part, kExpected);
    const auto from = number_of(std::string_view(part).substr(equals + 1, colon - equals - 1));
    const auto to = number_of(std::string_view(part).substr(colon + 1));
    if (!from || !to) return wrong("--box", part, kExpected);
    rules->ranges.push_back({part.substr(0, equals), *from, *to});
  }
  return {};
}

}  // namespace

void SubsetTexts::offer(CLI::App& app) {
  app.add_option("--variables", variables,
                 "take only these variables: names or globs, separated by commas; BLOCK/NAME means "
                 "the variable of one block. The coordinates of their dimensions come along, and "
                 "what their attributes name: bounds, coordinates, grid_mapping, cell_measures and "
                 "others (as ncks -v). The option may be repeated")
      ->type_name("NAME,...")
      ->allow_extra_args(false);
  app.add_option("--slab", slabs,
                 "take only these indexes of dimensions, which count from 0. time=0:12 means the "
                 "first 12, as ncks -d time,0,11; time=6 means only index 6; lat=10::2 means every "
                 "second index from 10 on, as ncks -d lat,10,,2. The option may be repeated")
      ->type_name("DIM=START:COUNT:STRIDE,...")
      ->allow_extra_args(false);
  app.add_option("--time", time,
                 "take only times from FROM to TO, both included, in the calendar of the time "
                 "coordinate (as cdo seldate). 1990,1994 means five whole years; 1990-03 means one "
                 "month; 1990-03-01T12, has no end")
      ->type_name("FROM,TO");
  app.add_option("--box", boxes,
                 "take only longitudes and latitudes in a box, by the values of the coordinates "
                 "(as cdo sellonlatbox); the limits are included. Longitudes differ by any "
                 "multiple of 360: for -20,40,30,70, a grid from 0 to 359 becomes one from -20 to "
                 "40. For two-dimensional coordinates, the smallest range of indexes is taken that "
                 "has all points of the box. COORDINATE=FROM:TO limits any coordinate with one "
                 "dimension, for example plev=50000:100000 (as ncks -d plev,50000.,100000.). The "
                 "option may be repeated")
      ->type_name("WEST,EAST,SOUTH,NORTH")
      ->allow_extra_args(false);
}

Result<std::optional<SubsetRules>> SubsetTexts::parse() const {
  std::optional<SubsetRules> out;
  if (variables.empty() && slabs.empty() && boxes.empty() && !time) return out;
  out.emplace();
  for (const std::string& text : variables) NMB_TRY(parse_variables(text, &*out));
  for (const std::string& text : slabs) NMB_TRY(parse_slabs(text, &*out));
  if (time) NMB_TRY(parse_time(*time, &*out));
  for (const std::string& text : boxes) NMB_TRY(parse_box(text, &*out));
  return out;
}

}  // namespace nmb::tools
