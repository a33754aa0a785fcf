#include "prove/subset_places.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "compare/content_values.h"
#include "files/files.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/input_links.h"
#include "merge/reading/input_reader.h"
#include "merge/uniting/union_input.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"
#include "prove/expected_values.h"
#include "values/chunk_cache.h"

namespace nmb {

namespace {

BlockSubset part_of(const Metadata& whole, const SubsetGroup& group, DatasetSubset subset) {
  BlockSubset part;
  part.is_outside = subset.is_outside;
  if (part.is_outside) return part;
  const Metadata& metadata = subset.dataset.metadata;
  for (DimId d = 0; d < metadata.dimension_count(); ++d)
    part.named_dimensions.emplace(metadata.dimension(d).name);
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (std::string name(metadata.variable(v).name); !subset.selected.contains(name))
      part.turned.insert(std::move(name));
  // Longitudes that wrap around may be the only variable along their dimension.
  for (DimId d = 0; d < whole.dimension_count(); ++d) {
    const std::string name(whole.dimension(d).name);
    const std::uint32_t level = d < group.levels.size() ? group.levels[d] : 0;
    const auto known = group.known.find(
        path_above(group.name, level, name).value_or(joined_path(group.name, name)));
    if (known != group.known.end()) part.dimensions.emplace(name, known->second);
  }
  for (VarId v = 0; v < whole.variable_count(); ++v) {
    const Variable variable = whole.variable(v);
    const auto selected = subset.selected.find(std::string(variable.name));
    if (selected == subset.selected.end()) continue;
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d)
      part.dimensions.emplace(whole.dimension(variable.dimensions[d]).name, selected->second[d]);
  }
  part.variables = std::move(subset.selected);
  return part;
}

// The limits of longitudes in the type of the coordinate.
struct LongitudeLimits {
  double west = 0, east = 0;
  double rounding = 0;  // of a longitude to which degrees are added
};

constexpr double kCircle = 360;

LongitudeLimits limits_of(const SubsetRules& rules, const std::string& longitude, Type type) {
  const auto range = std::ranges::find(rules.ranges, longitude, &SubsetRules::Range::coordinate);
  const SubsetRules::Box box = rules.box.value_or(SubsetRules::Box());
  const double west = range == rules.ranges.end() ? box.west : range->from;
  double width = (range == rules.ranges.end() ? box.east : range->to) - west;
  if (width >= kCircle)
    width = kCircle;
  else if (width < 0)
    width -= kCircle * std::floor(width / kCircle);
  if (type != Type::kFloat) return {west, west + width, std::ldexp(kCircle, -52)};
  return {static_cast<float>(west), static_cast<float>(west + width), std::ldexp(kCircle, -23)};
}

// Returns the multiples of 360 degrees with which a longitude lies in the limits, in ascending
// order.
std::vector<double> turns_within(const LongitudeLimits& limits, double longitude) {
  std::vector<double> turns;
  for (const double rounding : {0.0, limits.rounding}) {
    const double west = limits.west - rounding, east = limits.east + rounding;
    // Begins one circle earlier, because the quotient is rounded.
    const double first = std::ceil((west - longitude) / kCircle) - 1;
    for (int i = 0; i < 4; ++i) {
      const double turn = kCircle * (first + i);
      if (longitude + turn >= west && longitude + turn <= east) turns.push_back(turn);
    }
    if (!turns.empty()) break;
  }
  return turns;
}

// Returns the degrees to add to each longitude.
std::vector<double> turns_of(const LongitudeLimits& limits, const std::vector<double>& longitudes) {
  const bool ascends =
      longitudes.size() < 2 || std::remainder(longitudes[1] - longitudes[0], kCircle) > 0;
  std::vector<double> turns;
  std::optional<double> last;
  for (const double longitude : longitudes) {
    std::vector<double> possible = turns_within(limits, longitude);
    if (!ascends) std::ranges::reverse(possible);
    const auto next = std::ranges::find_if(possible, [&](double turn) {
      return !last || (ascends ? longitude + turn > *last : longitude + turn < *last);
    });
    const double turn = next != possible.end() ? *next : possible.empty() ? 0 : possible.front();
    last = longitude + turn;
    turns.push_back(turn);
  }
  return turns;
}

}  // namespace

Result<std::vector<TurnedRun>> turned_runs(DatasetContent& block, std::size_t variable,
                                           const SubsetRules& rules, const IndexRuns& along) {
  std::vector<TurnedRun> out;
  std::optional<std::size_t> longitude = variable;
  NMB_ASSIGN(std::vector<AxisContent> axes, block.axes(variable));
  if (axes.size() != 1 || axes.front().dimension != block.variable_name(variable)) {
    NMB_ASSIGN(const std::string name,
               coordinate_with_bounds(block, block.variable_name(variable)));
    longitude = name.empty() ? std::nullopt : find_variable(block, name);
    if (!longitude) return out;
    NMB_ASSIGN(axes, block.axes(*longitude));
  }
  const std::optional<Type> type = classic_type_of(block, *longitude);
  if (!type || *type == Type::kChar || axes.size() != 1) return out;
  NMB_ASSIGN(const auto values,
             ContentValues::open(block, *longitude, std::make_shared<ChunkCache>(1 << 20)));
  std::vector<std::byte> bytes;
  NMB_TRY(values->read(0, axes.front().length, &bytes));
  std::vector<std::uint64_t> indexes;
  std::vector<double> longitudes;
  for (const IndexRun& run : along)
    for (std::uint64_t i = 0; i < run.count; ++i) {
      indexes.push_back(run.first + i * run.stride);
      longitudes.push_back(
          number_of_canonical(*type, bytes.data() + indexes.back() * type_size(*type)));
    }
  const std::vector<double> turns =
      turns_of(limits_of(rules, block.variable_name(*longitude), *type), longitudes);
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    if (i == 0 || turns[i] != turns[i - 1]) out.push_back({{}, i, turns[i]});
    IndexRuns& from = out.back().from;
    if (!from.empty() && from.back().first + from.back().count == indexes[i])
      ++from.back().count;
    else
      from.push_back({indexes[i], 1, 1});
  }
  return out;
}

Result<InputSubset> subset_places(const PackOptions& merge, std::size_t input) {
  PackOptions reading;
  reading.inputs = merge.inputs;
  reading.input_blocks = merge.input_blocks;
  reading.external = merge.external;
  reading.subset = merge.subset;
  reading.keep_statistics = false;
  InputOptions options{reading, kCachedBytesOfInput};
  options.shared_dimensions = true;
  std::vector<std::string> warnings;
  InputReader reader(std::move(options), &warnings);
  NMB_ASSIGN(const Source file, FileSource::open(merge.inputs[input]));
  const auto views = std::make_shared<SourcePool>(1);
  const std::string record = merge.joins() ? std::string(along_name(merge)) : std::string();
  const OwnTypes own = keeps_chunks(merge) ? OwnTypes::kKept : OwnTypes::kLost;
  InputSubset out;
  DimensionSelections known;
  NMB_TRY(reader.read(input, file, [&](InputBlock& block) -> Result<bool> {
    NMB_ASSIGN(const ClassicForm form, classic_form(block, views, record, own));
    const SubsetGroup group = subset_group(block, form, merge, known);
    NMB_ASSIGN(DatasetSubset subset, subset_of(form.dataset, form.values, *merge.subset, group));
    out.emplace(block.group, part_of(form.dataset.metadata, group, std::move(subset)));
    return true;
  }));
  return out;
}

}  // namespace nmb
