#include "netcdf/subset_indexes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "model/name_rules.h"
#include "model/naming_attributes.h"
#include "model/paths.h"
#include "netcdf/calendar_time.h"
#include "netcdf/selected_variables.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr double kCircle = 360;

Status conflict(std::string text) { return Status(Code::kConflict, std::move(text)); }

// Returns the indexes for which the list has `true`, in ascending order.
IndexRuns runs_of(const std::vector<bool>& is_selected) {
  IndexRuns runs;
  for (std::uint64_t i = 0; i < is_selected.size(); ++i) {
    if (!is_selected[i]) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == i)
      ++runs.back().count;
    else
      runs.push_back({i, 1});
  }
  return runs;
}

bool is_monotonic(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::less_equal<>()) == values.end() ||
         std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
}

enum class Axis : std::uint8_t { kNone, kLongitude, kLatitude, kTime };

// Returns the axis of a coordinate by its attributes (CF, sections 4.1, 4.2 and 4.4).
Axis axis_of(const Metadata& metadata, VarId v) {
  const std::string name = char_attribute(metadata, v, "standard_name");
  const std::string units = char_attribute(metadata, v, "units");
  const auto has_units = [&](const char* direction, const char* letter) {
    for (const char* degrees : {"degrees", "degree"})
      if (units == std::string(degrees) + "_" + direction ||
          units == std::string(degrees) + "_" + letter || units == std::string(degrees) + letter)
        return true;
    return false;
  };
  if (name == "longitude" || (name.empty() && has_units("east", "E"))) return Axis::kLongitude;
  if (name == "latitude" || (name.empty() && has_units("north", "N"))) return Axis::kLatitude;
  return units.find(" since ") != units.npos ? Axis::kTime : Axis::kNone;
}

// A range of values, both limits included, in the type of the coordinate.
class Limits {
 public:
  // is_circle: for longitudes.
  Limits(double from, double to, Type type, bool is_circle) : is_circle_(is_circle) {
    if (!is_circle && from > to) std::swap(from, to);
    const double given_to = to;
    if (is_circle) {
      is_whole_ = to - from >= kCircle;
      to = is_whole_ ? from + kCircle : from + std::fmod(to - from, kCircle);
      if (to < from) to += kCircle;
    }
    const auto in_type = [&](double value) {
      return type == Type::kFloat ? static_cast<double>(static_cast<float>(value)) : value;
    };
    from_ = in_type(from);
    to_ = in_type(to);
    greatest_ = is_whole_ ? in_type(given_to) : to_;
    tolerance_ = type == Type::kFloat ? kCircle * 0x1p-23 : kCircle * 0x1p-52;
  }

  // Returns the value in the range that differs from `value` by a multiple of 360 degrees; of two
  // such values in a whole circle, the western one.
  double turned(double value) const {
    if (!is_circle_ || (!is_whole_ && is_between(value, 0))) return value;
    const double least = value - kCircle * std::floor((value - from_) / kCircle);
    for (const double here : {least - kCircle, least})
      if (is_between(here, tolerance_)) return here;
    return least;
  }
  // Returns whether both values, or both with the same multiple of 360 degrees, are in the limits.
  bool has_both(double least, double greatest) const {
    for (const double turn : {0.0, turned(least) - least})
      if (least + turn >= from_ - tolerance_ && greatest + turn <= greatest_ + tolerance_)
        return true;
    return false;
  }
  bool has(double value) const {
    if (std::isnan(value)) return false;
    return is_whole_ || is_between(value, 0) ||
           (is_circle_ && is_between(turned(value), tolerance_));
  }

 private:
  bool is_between(double value, double tolerance) const {
    return value >= from_ - tolerance && value <= to_ + tolerance;
  }

  double from_, to_;
  double greatest_;   // the limit as it was given; to_ is at most one circle behind from_
  double tolerance_;  // the rounding error of a value to which 360 degrees are added
  bool is_circle_, is_whole_ = false;
};

class IndexChooser {
 public:
  IndexChooser(const Dataset& dataset, const SubsetRules& rules, const SubsetGroup& group,
               const std::vector<bool>& is_chosen, std::vector<std::uint8_t>* used)
      : dataset_(dataset),
        from_(dataset.metadata),
        rules_(rules),
        group_(group),
        is_chosen_(is_chosen),
        used_(*used),
        is_bounds_(from_.variable_count()),
        chosen_by_(from_.dimension_count()),
        out_{.runs = std::vector<std::optional<IndexRuns>>(from_.dimension_count())} {}

  Result<SubsetIndexes> choose_all() {
    note_bounds();
    std::size_t rule = rules_.variables.size();
    for (const SubsetRules::Slab& slab : rules_.slabs) NMB_TRY(apply(slab, rule++));
    if (rules_.times) NMB_TRY(apply(*rules_.times, rule++));
    for (const SubsetRules::Range& range : rules_.ranges) NMB_TRY(apply(range, rule++));
    if (rules_.box) NMB_TRY(apply(*rules_.box, rule++));
    NMB_TRY(compare_groups());
    return std::move(out_);
  }

 private:
  std::uint64_t length_of(DimId d) const { return nmb::length_of(dataset_, d); }
  std::span<const DimId> dimensions_of(VarId v) const { return from_.variable(v).dimensions; }
  bool is_coordinate(VarId v) const { return nmb::is_coordinate(from_, v); }
  std::string dimension_text(DimId d) const { return nmb::dimension_text(from_, d); }

  void note_bounds() {
    for (VarId v = 0; v < from_.variable_count(); ++v)
      for (const char* attribute : {"bounds", "climatology"})
        for_each_word(attribute, char_attribute(from_, v, attribute), [&](std::string_view word) {
          if (const auto found = from_.find_variable(word); found && *found != v)
            is_bounds_[*found] = true;
        });
  }

  Status choose(DimId d, IndexRuns indexes, std::size_t rule) {
    used_[rule] = 1;
    if (chosen_by_[d])
      return conflict(dimension_text(d) + " is selected twice; use one of the options for it");
    chosen_by_[d] = rule + 1;
    out_.runs[d] = std::move(indexes);
    return {};
  }

  Status apply(const SubsetRules::Slab& slab, std::size_t rule) {
    for (DimId d = 0; d < from_.dimension_count(); ++d) {
      const std::string name(from_.dimension(d).name);
      if (slab.dimension != name && without_slash(slab.dimension) != path_of(d)) continue;
      const std::uint64_t length = length_of(d);
      if (slab.start >= length)
        return conflict(joined_text(dimension_text(d), " has the length ", length,
                                    "; it has no index ", slab.start));
      const std::uint64_t most = (length - slab.start - 1) / slab.stride + 1;
      const std::uint64_t count = slab.count.value_or(most);
      if (count > most)
        return conflict(joined_text(dimension_text(d), " has the length ", length, "; from index ",
                                    slab.start, " on, there are ", most, " indexes, not ", count));
      NMB_TRY(choose(d, {{slab.start, count, count == 1 ? 1 : slab.stride}}, rule));
    }
    return {};
  }

  // Returns the path of a dimension, without the first '/'.
  std::string path_of(DimId d) const {
    const std::string name(from_.dimension(d).name);
    const std::uint32_t level = d < group_.levels.size() ? group_.levels[d] : 0;
    return path_above(group_.name, level, name).value_or(joined_path(group_.name, name));
  }

  Result<std::vector<double>> values_of(VarId v) const {
    Hyperslab all;
    for (const DimId d : dimensions_of(v)) all.count.push_back(length_of(d));
    all.start.assign(all.count.size(), 0);
    return coordinate_values(dataset_, v, all);
  }

  Result<std::vector<bool>> selected_by(VarId v, const Limits& limits) const {
    NMB_ASSIGN(const std::vector<double> values, values_of(v));
    std::vector<bool> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = limits.has(values[i]);
    return out;
  }

  // Finds the time coordinate: the coordinate variable with units of time or, if there is none, the
  // only variable of at most one dimension with the standard name "time".
  Result<std::optional<VarId>> find_time() const {
    std::vector<VarId> coordinates, times, others;
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      if (axis_of(from_, v) != Axis::kTime || is_bounds_[v] || dimensions_of(v).size() > 1)
        continue;
      const bool is_time = char_attribute(from_, v, "standard_name") == "time" ||
                           char_attribute(from_, v, "axis") == "T";
      if (is_coordinate(v)) {
        coordinates.push_back(v);
        if (is_time) times.push_back(v);
      } else if (is_time) {
        others.push_back(v);
      }
    }
    if (times.size() != 1 && coordinates.size() == 1) times = coordinates;
    if (coordinates.empty()) times = others;
    if (times.empty() && coordinates.empty()) return std::optional<VarId>();
    if (times.size() == 1) return std::optional(times.front());
    std::string names;
    for (const VarId v : times.empty() ? coordinates : times)
      names += (names.empty() ? "" : ", ") + std::string(from_.variable(v).name);
    return conflict("several variables have times: " + names + "; use SubsetRules::slabs");
  }

  Status apply(const SubsetRules::Times& times, std::size_t rule) {
    NMB_ASSIGN(const std::optional<VarId> time, find_time());
    if (!time) return {};
    NMB_ASSIGN(const CalendarTime calendar,
               CalendarTime::parse(char_attribute(from_, *time, "units"),
                                   char_attribute(from_, *time, "calendar")));
    CalendarTime::Span from, to;
    if (!times.from.empty()) NMB_ASSIGN(from, calendar.span(times.from));
    if (!times.to.empty()) NMB_ASSIGN(to, calendar.span(times.to));
    NMB_ASSIGN(const std::vector<double> values, values_of(*time));
    std::vector<bool> is_selected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]))
        return Status(Code::kUnsupported,
                      joined_text(variable_text(from_, *time), ": the time is missing at index ", i,
                                  "; it has no date"));
      NMB_ASSIGN(const std::int64_t at, calendar.microseconds(values[i]));
      is_selected[i] =
          (times.from.empty() || at >= from.begin) && (times.to.empty() || at < to.end);
    }
    return choose_of(*time, is_selected, rule);
  }

  // Selects indexes of the dimension of a coordinate, or the whole dataset by a scalar coordinate.
  Status choose_of(VarId v, const std::vector<bool>& is_selected, std::size_t rule) {
    if (!dimensions_of(v).empty()) return choose(dimensions_of(v)[0], runs_of(is_selected), rule);
    used_[rule] = 1;
    if (!is_selected.front() && is_chosen_[v]) out_.is_outside = true;
    return {};
  }

  Status apply(const SubsetRules::Range& range, std::size_t rule) {
    const std::optional<VarId> found = from_.find_variable(range.coordinate);
    if (!found) return {};
    if (dimensions_of(*found).size() > 1)
      return conflict(joined_text(variable_text(from_, *found), " has ",
                                  dimensions_of(*found).size(),
                                  " dimensions; expected a coordinate with one dimension"));
    const bool is_longitude = axis_of(from_, *found) == Axis::kLongitude;
    const Limits limits(range.from, range.to, from_.variable(*found).type, is_longitude);
    if (is_longitude && is_coordinate(*found)) return choose_longitudes(*found, limits, rule);
    NMB_ASSIGN(const std::vector<bool> is_selected, selected_by(*found, limits));
    return choose_of(*found, is_selected, rule);
  }

  // Selects longitudes. If they wrap around the end of the dimension, they are ordered from west to
  // east, and their values change by 360 degrees, so that the coordinate stays monotonic.
  Status choose_longitudes(VarId v, const Limits& limits, std::size_t rule) {
    NMB_ASSIGN(const std::vector<double> values, values_of(v));
    std::vector<bool> is_selected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) is_selected[i] = limits.has(values[i]);
    IndexRuns runs = runs_of(is_selected);
    const bool has_ends = !values.empty() && is_selected.front() && is_selected.back();
    if (has_ends && runs.size() <= 2 && is_monotonic(values)) {
      const auto [least, greatest] = std::minmax(values.front(), values.back());
      if (runs.size() == 1 && !limits.has_both(least, greatest)) divide(values, limits, &runs);
      if (runs.size() == 2) NMB_TRY(turn(v, values, limits, &runs));
    }
    return choose(dimensions_of(v)[0], std::move(runs), rule);
  }

  // Divides the run of all indexes where the limits cut the circle, if they do.
  static void divide(const std::vector<double>& values, const Limits& limits, IndexRuns* runs) {
    const bool ascends = values.front() < values.back();
    for (std::uint64_t i = 1; i < values.size(); ++i)
      if ((limits.turned(values[i - 1]) < limits.turned(values[i])) != ascends) {
        *runs = {{0, i}, {i, values.size() - i}};
        return;
      }
  }

  // Exchanges both runs of longitudes, and turns the values into the limits.
  Status turn(VarId v, const std::vector<double>& values, const Limits& limits, IndexRuns* runs) {
    std::swap((*runs)[0], (*runs)[1]);
    std::vector<double> turns, result;
    for (const IndexRun& run : *runs)
      for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
        result.push_back(limits.turned(values[i]));
        turns.push_back(result.back() - values[i]);
      }
    if (!is_monotonic(result))
      return conflict("the values of " + variable_text(from_, v) +
                      " repeat after 360 degrees; use SubsetRules::slabs");
    out_.turned.emplace(v, turns);
    const std::string bounds = char_attribute(from_, v, "bounds");
    if (const auto found = from_.find_variable(bounds); found && !bounds.empty()) {
      const std::span<const DimId> ids = dimensions_of(*found);
      if (ids.size() != 2 || ids[0] != dimensions_of(v)[0])
        return conflict(variable_text(from_, *found) + " has other dimensions than " +
                        variable_text(from_, v) + ", whose bounds it has");
      out_.turned.emplace(*found, std::move(turns));
    }
    return {};
  }

  Status apply(const SubsetRules::Box& box, std::size_t rule) {
    std::array<std::vector<VarId>, 2> coordinates;  // longitudes, latitudes
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      const Axis axis = axis_of(from_, v);
      if ((axis != Axis::kLongitude && axis != Axis::kLatitude) || is_bounds_[v] ||
          from_.variable(v).type == Type::kChar)
        continue;
      coordinates[axis == Axis::kLatitude].push_back(v);
    }
    const auto limits = [&](VarId v) {
      const Type type = from_.variable(v).type;
      return axis_of(from_, v) == Axis::kLongitude ? Limits(box.west, box.east, type, true)
                                                   : Limits(box.south, box.north, type, false);
    };
    // Points (x), which are selected one by one, have both coordinates along one dimension.
    std::map<DimId, std::vector<VarId>> along;
    std::vector<VarId> scalars, curved, others;
    for (const std::vector<VarId>& list : coordinates)
      for (const VarId v : list) {
        const std::span<const DimId> ids = dimensions_of(v);
        if (ids.size() == 1)
          along[ids[0]].push_back(v);
        else
          (ids.empty() ? scalars : ids.size() == 2 ? curved : others).push_back(v);
      }
    for (auto& [d, list] : along) {
      // The coordinate variable decides, if there is one.
      const auto own = std::ranges::find_if(list, [&](VarId v) { return is_coordinate(v); });
      if (own != list.end()) list = {*own};
      if (list.size() == 1 && is_coordinate(list[0]) &&
          axis_of(from_, list[0]) == Axis::kLongitude) {
        NMB_TRY(choose_longitudes(list[0], limits(list[0]), rule));
        continue;
      }
      const auto longitudes = std::ranges::count_if(
          list, [&](VarId v) { return axis_of(from_, v) == Axis::kLongitude; });
      if (longitudes > 1 || std::ssize(list) - longitudes > 1)
        return conflict(dimension_text(d) +
                        " has several longitudes or latitudes; use SubsetRules::slabs");
      std::vector<bool> is_selected(length_of(d), true);
      for (const VarId v : list) {
        NMB_ASSIGN(const std::vector<bool> here, selected_by(v, limits(v)));
        for (std::size_t i = 0; i < here.size(); ++i) is_selected[i] = is_selected[i] && here[i];
      }
      NMB_TRY(choose(d, runs_of(is_selected), rule));
    }
    NMB_TRY(apply_curved(curved, limits, rule));
    if (used_[rule]) return {};
    if (!others.empty())
      return conflict(joined_text(variable_text(from_, others[0]), " has ",
                                  dimensions_of(others[0]).size(),
                                  " dimensions; use SubsetRules::slabs"));
    for (const VarId v : scalars) {
      NMB_ASSIGN(const std::vector<bool> is_selected, selected_by(v, limits(v)));
      NMB_TRY(choose_of(v, is_selected, rule));
    }
    return {};
  }

  // Selects the smallest ranges of both dimensions of a curvilinear grid that have all points of
  // the box.
  template <class LimitsOf>
  Status apply_curved(const std::vector<VarId>& curved, const LimitsOf& limits, std::size_t rule) {
    std::map<std::pair<DimId, DimId>, std::vector<VarId>> grids;
    for (const VarId v : curved) {
      const std::span<const DimId> ids = dimensions_of(v);
      // Two-dimensional coordinates beside coordinate variables of both dimensions.
      if (chosen_by_[ids[0]] == rule + 1 && chosen_by_[ids[1]] == rule + 1) continue;
      grids[{ids[0], ids[1]}].push_back(v);
    }
    for (const auto& [ids, list] : grids) {
      const auto [y, x] = ids;
      if (list.size() != 2 || axis_of(from_, list[0]) == axis_of(from_, list[1]))
        return conflict(joined_text("expected one longitude and one latitude with the dimensions ",
                                    from_.dimension(y).name, " and ", from_.dimension(x).name,
                                    ", found ", list.size(), "; use SubsetRules::slabs"));
      const Limits first_limits = limits(list[0]), second_limits = limits(list[1]);
      const std::uint64_t rows = length_of(y), columns = length_of(x);
      std::uint64_t low_y = rows, high_y = 0, low_x = columns, high_x = 0;
      const std::uint64_t at_once =
          std::max<std::uint64_t>(1, (1 << 18) / std::max<std::uint64_t>(columns, 1));
      for (std::uint64_t row = 0; row < rows; row += at_once) {
        const Hyperslab slab{{row, 0}, {std::min(at_once, rows - row), columns}};
        NMB_ASSIGN(const std::vector<double> first, coordinate_values(dataset_, list[0], slab));
        NMB_ASSIGN(const std::vector<double> second, coordinate_values(dataset_, list[1], slab));
        for (std::uint64_t i = 0; i < first.size(); ++i) {
          if (!first_limits.has(first[i]) || !second_limits.has(second[i])) continue;
          const std::uint64_t at_y = row + i / columns, at_x = i % columns;
          low_y = std::min(low_y, at_y);
          high_y = std::max(high_y, at_y + 1);
          low_x = std::min(low_x, at_x);
          high_x = std::max(high_x, at_x + 1);
        }
      }
      const bool any = high_y > low_y;
      NMB_TRY(choose(y, any ? IndexRuns{{low_y, high_y - low_y}} : IndexRuns(), rule));
      NMB_TRY(choose(x, any ? IndexRuns{{low_x, high_x - low_x}} : IndexRuns(), rule));
    }
    return {};
  }
  // A dimension has the same indexes in all groups that share it.
  Status compare_groups() {
    for (DimId d = 0; d < from_.dimension_count(); ++d) {
      const bool is_above = d < group_.levels.size() && group_.levels[d] > 0;
      const std::string path = path_of(d);
      if (!is_above) {
        if (chosen_by_[d]) group_.known[path] = *out_.runs[d];
        continue;
      }
      const auto known = group_.known.find(path);
      if (chosen_by_[d]) {
        const bool agrees = known == group_.known.end() ? false : known->second == *out_.runs[d];
        if (!agrees)
          return conflict("coordinates in group /" + std::string(group_.name) +
                          " select indexes of " + dimension_text(d) +
                          ", which a group above it defines; use SubsetRules::slabs");
        continue;
      }
      if (known == group_.known.end()) continue;
      for (const IndexRun& run : known->second)
        if (run.first + (run.count - 1) * run.stride >= length_of(d))
          return conflict(dimension_text(d) + " is shorter in group /" + std::string(group_.name) +
                          " than in the group above it");
      out_.runs[d] = known->second;
      chosen_by_[d] = ~std::size_t{0};
    }
    return {};
  }

  const Dataset& dataset_;
  const Metadata& from_;
  const SubsetRules& rules_;
  const SubsetGroup& group_;
  const std::vector<bool>& is_chosen_;
  std::vector<std::uint8_t>& used_;
  std::vector<bool> is_bounds_;         // by variable
  std::vector<std::size_t> chosen_by_;  // by dimension: number of the rule plus 1, or 0
  SubsetIndexes out_;
};

}  // namespace

std::string dimension_text(const Metadata& metadata, DimId d) {
  return "dimension " + in_quotes(metadata.dimension(d).name);
}

std::string variable_text(const Metadata& metadata, VarId v) {
  return "variable " + in_quotes(metadata.variable(v).name);
}

Result<SubsetIndexes> subset_indexes(const Dataset& dataset, const SubsetRules& rules,
                                     const SubsetGroup& group, const std::vector<bool>& is_chosen,
                                     std::vector<std::uint8_t>* used) {
  return IndexChooser(dataset, rules, group, is_chosen, used).choose_all();
}

}  // namespace nmb
