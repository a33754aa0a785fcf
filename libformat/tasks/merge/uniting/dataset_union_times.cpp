// Counts joined times in the units of the first dataset (see merge/uniting/dataset_union.h). Bounds
// without units have the units of their coordinate (CF conventions, sections 7.1 and 7.4).
#include <algorithm>
#include <array>
#include <utility>

#include "merge/uniting/dataset_union.h"
#include "merge/uniting/value_comparison.h"
#include "model/name_rules.h"
#include "model/values.h"
#include "netcdf/selected_variables.h"
#include "sources/value_rebasing.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

constexpr std::string_view kUnits = "units", kCalendar = "calendar";

// Returns the attribute that makes it unclear which times the values of a variable mean, or which
// values are missing. Returns "" if there is none.
std::string_view obstacle(const Metadata& metadata, VarId variable) {
  constexpr std::array<std::string_view, 6> kNames{"scale_factor", "add_offset", "_Unsigned",
                                                   "valid_min",    "valid_max",  "valid_range"};
  for (const std::string_view name : kNames)
    if (metadata.find_attribute(variable, name)) return name;
  for (const std::string_view name : {"_FillValue", "missing_value"}) {
    const auto found = metadata.find_attribute(variable, name);
    if (found && found->type != metadata.variable(variable).type) return name;
  }
  return "";
}

// Returns the conversion between the units of two variables. Errors (with a message only):
// kUnsupported.
Result<TimeShift> shift_between(const Metadata& from, VarId variable, const Metadata& to,
                                VarId known) {
  NMB_ASSIGN(const CalendarTime found,
             CalendarTime::parse(char_attribute(from, variable, kUnits),
                                 char_attribute(from, variable, kCalendar)));
  NMB_ASSIGN(
      const CalendarTime expected,
      CalendarTime::parse(char_attribute(to, known, kUnits), char_attribute(to, known, kCalendar)));
  const auto shift = found.shift_to(expected);
  if (!shift) return Status(Code::kUnsupported, "the calendars differ");
  return *shift;
}

bool tells_time(std::string_view units) { return units.find(" since ") != units.npos; }

}  // namespace

// Compares the units of a variable with those that it has in the union. If the variable has no
// units and is the bounds of a coordinate, compares the units of this coordinate.
DatasetUnion::Rebase DatasetUnion::rebase_of(const Metadata& metadata, VarId local,
                                             std::optional<VarId> known) const {
  Rebase out;
  const Variable variable = metadata.variable(local);
  if (is_tiled() || placed_[*known].axes.empty() || variable.type == Type::kChar) return out;
  std::optional<VarId> own = local;
  const auto has_units = [&](const Metadata& from, VarId id) {
    return from.find_attribute(id, kUnits).has_value();
  };
  if (!has_units(metadata, local) && !has_units(all_.metadata, *known)) {
    const auto coordinate = bounds_.find(variable.name);
    if (coordinate == bounds_.end()) return out;
    own = metadata.find_variable(coordinate->second);
    known = all_.metadata.find_variable(coordinate->second);
    if (!own || !known) return out;
    out.coordinate = known;
  }
  out.found = char_attribute(metadata, *own, kUnits);
  out.expected = char_attribute(all_.metadata, *known, kUnits);
  if (!tells_time(out.found) || !tells_time(out.expected)) return out;
  if (out.found == out.expected &&
      char_attribute(metadata, *own, kCalendar) == char_attribute(all_.metadata, *known, kCalendar))
    return out;
  const Result<TimeShift> shift = shift_between(metadata, *own, all_.metadata, *known);
  std::string why;
  if (!shift.ok())
    why = shift.status().message();
  else if (const auto name = obstacle(metadata, local); !name.empty())
    why = "the variable has an attribute " + std::string(name);
  if (why.empty() && !rules_.rebases_times)
    out.hint = "; use Join::rebase_times to count times from the same day";
  else if (!why.empty() && rules_.rebases_times)
    out.hint = " (not rebased: " + why + ")";
  out.is = why.empty() && rules_.rebases_times;
  if (out.is) out.shift = *shift;
  return out;
}

// Notes which variables are bounds.
void DatasetUnion::note_bounds(const Metadata& metadata) {
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    for (const std::string_view attribute : {"bounds", "climatology"}) {
      std::string bounds = char_attribute(metadata, v, attribute);
      if (bounds.empty()) continue;
      const std::string coordinate(metadata.variable(v).name);
      if (!bounds_.emplace(bounds, coordinate).second) continue;
      // Earlier datasets may have times that were rebased without the bounds.
      const auto known = all_.metadata.find_variable(coordinate);
      if (known && all_.metadata.find_variable(bounds) &&
          std::ranges::any_of(placed_[*known].places,
                              [](const DatasetValues& place) { return place.shift != 0; }))
        conflict(ConflictKind::kAttribute, object_of(*known, attribute), in_quotes(bounds),
                 "the same attribute in all files, because times are rebased",
                 placed_[*known].places.front().member);
    }
}

// Returns the index in shifts_.
std::uint32_t DatasetUnion::number_of(const Rebase& rebase) {
  if (!rebase.is || (rebase.shift.from == rebase.shift.to && rebase.shift.shift == 0)) return 0;
  if (shifts_.size() == 1 || shifts_.back().first != rebase.shift ||
      shifts_.back().second != rebase.found)
    shifts_.emplace_back(rebase.shift, rebase.found);
  return static_cast<std::uint32_t>(shifts_.size() - 1);
}

void DatasetUnion::report_rebased(VarId variable, const Rebase& rebase) {
  if (rebase.found == rebase.expected) return;
  tell(UnionNote::What::kRebased, ConflictKind::kAttribute, all_.metadata.variable(variable).name,
       in_quotes(rebase.found), in_quotes(rebase.expected), 0, here());
}

Rebasing DatasetUnion::rebasing_of(VarId variable, const DatasetValues& place) const {
  const TimeShift& shift = shifts_[place.shift].first;
  const Type type = all_.metadata.variable(variable).type;
  Rebasing how{type, shift.from, shift.to, shift.shift, {}};
  for (const std::string_view name : {"_FillValue", "missing_value"})
    if (const auto found = all_.metadata.find_attribute(variable, name))
      how.kept.insert(how.kept.end(), found->values.begin(), found->values.end());
  if (!all_.metadata.find_attribute(variable, "_FillValue") && type_size(type) > 1 &&
      members_[place.member].has_default_fill.value_or(true)) {
    const std::vector<std::byte> fill = default_fill_value(type);
    how.kept.insert(how.kept.end(), fill.begin(), fill.end());
  }
  return how;
}

Status DatasetUnion::check_times() {
  for (VarId v = 0; v < placed_.size() && shifts_.size() > 1; ++v)
    for (const DatasetValues& place : placed_[v].places)
      if (place.shift != 0) NMB_TRY(check_times(v, place));
  return {};
}

// Checks that all times of one dataset can be rebased.
Status DatasetUnion::check_times(VarId variable, const DatasetValues& place) {
  constexpr std::uint64_t kBytesAtOnce = 1 << 18;
  if (!members_[place.member].values) return {};
  const Variable found = all_.metadata.variable(variable);
  const Rebasing how = rebasing_of(variable, place);
  std::uint64_t slice = 0;
  const Source times = widened_array(variable, place, &slice);
  const std::size_t size = type_size(found.type);
  std::vector<std::byte> bytes;
  for (std::uint64_t at = 0; at < times->size(); at += bytes.size()) {
    bytes.resize(std::min(kBytesAtOnce, times->size() - at));
    NMB_TRY(times->read_at(at, bytes));
    const auto index = first_inexact(how, bytes);
    if (!index) continue;
    ValuesDiffer time;
    time.element = at / size + *index;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(*index * size), size,
                time.found.begin());
    std::vector<IndexRange> ranges;
    for (const DimId id : found.dimensions)
      ranges.push_back({0, joined_[id].is ? joined_[id].counts[place.member] : length_of(id)});
    VarId with_units = variable;
    if (!all_.metadata.find_attribute(variable, kUnits))
      if (const auto known = bounds_.find(found.name); known != bounds_.end())
        with_units = all_.metadata.find_variable(known->second).value_or(variable);
    const std::string units = char_attribute(all_.metadata, with_units, kUnits);
    tell(UnionNote::What::kConflict, ConflictKind::kValues, found.name,
         difference_text(time, found.type, ranges).first + " in " +
             in_quotes(shifts_[place.shift].second),
         "a time that is exact as " + std::string(type_name(found.type)) + " in " +
             in_quotes(units) + "; other units, such as hours, may be exact",
         placed_[variable].places.front().member, place.member);
    return {};
  }
  return {};
}

}  // namespace nmb
