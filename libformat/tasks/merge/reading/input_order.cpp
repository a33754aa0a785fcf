#include "merge/reading/input_order.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "files/files.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/input_reader.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/calendar_time.h"
#include "netcdf/selected_variables.h"
#include "parallel/outbox.h"

namespace nmb {

namespace {

struct FirstValue {
  bool is_known = false;          // whether the input has the variable
  std::optional<double> value{};  // unset if the variable has no values
  std::string units{}, calendar{};
};

FirstValue value_of(const Metadata& metadata, VarId id, std::optional<double> value) {
  return {true, value, char_attribute(metadata, id, "units"),
          char_attribute(metadata, id, "calendar")};
}

// Returns the first value of a variable.
Result<FirstValue> first_value(const InputBlock& block, std::string_view name) {
  NMB_ASSIGN(const ClassicForm form, classic_form(block, std::make_shared<SourcePool>(1)));
  const Metadata& metadata = form.dataset.metadata;
  const auto id = metadata.find_variable(name);
  if (!id) return FirstValue();
  NMB_ASSIGN(const VariableShape shape, form.dataset.shape(*id));
  Hyperslab slab;
  slab.start.assign(shape.lengths.size(), 0);
  slab.count.assign(shape.lengths.size(), 1);
  if (std::ranges::find(shape.lengths, std::uint64_t{0}) != shape.lengths.end())
    return value_of(metadata, *id, std::nullopt);
  double value = 0;
  NMB_TRY(form.dataset.read(*id, slab, std::span(&value, 1)));
  return value_of(metadata, *id, value);
}

Result<FirstValue> value_in(std::size_t index, const std::string& path, const std::string& variable,
                            ExternalPaths external) {
  const SplitPath wanted = split_path(variable);
  NMB_ASSIGN(Source file, FileSource::open(path));
  std::vector<std::string> warnings;  // ignored, because warnings are reported when the input is
                                      // planned
  PackOptions merge;
  merge.external = external;
  merge.keep_statistics = false;
  InputReader reader({merge, kCachedBytesOfInput}, &warnings);
  FirstValue found;
  NMB_TRY(reader.read(index, std::move(file), [&](InputBlock& block) -> Result<bool> {
    if (block.group != wanted.parent) return true;
    NMB_ASSIGN(found, first_value(block, wanted.name));
    return false;
  }));
  if (found.is_known && !(found.value && std::isnan(*found.value))) return found;
  return Status(Code::kConflict, path, kNoOffset, "",
                "found no value of " + in_quotes(variable) + " to sort by");
}

// Converts times to the units of the first one. Does nothing if the values are not times or have
// different calendars; then the inputs cannot be joined.
void make_comparable(std::vector<FirstValue>* values) {
  const FirstValue& first = values->front();
  if (std::ranges::all_of(*values, [&](const FirstValue& v) { return v.units == first.units; }))
    return;
  const Result<CalendarTime> expected = CalendarTime::parse(first.units, first.calendar);
  if (!expected.ok()) return;
  std::vector<TimeShift> shifts;
  for (const FirstValue& value : *values) {
    const Result<CalendarTime> found = CalendarTime::parse(value.units, value.calendar);
    const auto shift = found.ok() ? found->shift_to(*expected) : std::nullopt;
    if (!shift) return;
    shifts.push_back(*shift);
  }
  for (std::size_t i = 0; i < values->size(); ++i)
    if (std::optional<double>& value = (*values)[i].value)
      value = static_cast<double>(
          (static_cast<long double>(*value) * static_cast<long double>(shifts[i].from) +
           static_cast<long double>(shifts[i].shift)) /
          static_cast<long double>(shifts[i].to));
}

Result<std::vector<std::uint64_t>> order_of(const std::vector<std::string>& inputs,
                                            const std::string& variable, ExternalPaths external,
                                            bool by_date) {
  std::vector<FirstValue> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Result<FirstValue> value = value_in(i, inputs[i], variable, external);
    if (!value.ok()) return value.status().in_file(inputs[i]);
    values.push_back(*std::move(value));
  }
  if (by_date && !values.empty()) make_comparable(&values);
  std::vector<std::uint64_t> order(inputs.size());
  std::iota(order.begin(), order.end(), 0);
  // Inputs without values come last.
  std::ranges::stable_sort(order, {}, [&](std::uint64_t i) {
    return std::pair(!values[i].value, values[i].value.value_or(0));
  });
  return order;
}

}  // namespace

Status sort_by_values(Communicator& ranks, const std::string& variable, ExternalPaths external,
                      bool by_date, std::vector<std::string>* inputs) {
  std::pair<Status, std::vector<std::uint64_t>> order;
  if (ranks.rank() == 0) {
    Result<std::vector<std::uint64_t>> found = order_of(*inputs, variable, external, by_date);
    order.first = found.status();
    if (found.ok()) order.second = *std::move(found);
  }
  NMB_TRY(broadcast_fields(ranks, 0, &order));
  NMB_TRY(order.first);
  std::vector<std::string> sorted;
  for (const std::uint64_t i : order.second) sorted.push_back((*inputs)[i]);
  *inputs = std::move(sorted);
  return {};
}

std::vector<std::pair<std::size_t, std::size_t>> repeated_files(
    const std::vector<std::string>& paths) {
  std::map<std::pair<dev_t, ino_t>, std::size_t> known;
  std::vector<std::pair<std::size_t, std::size_t>> repeated;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    struct stat file {};
    if (::stat(paths[i].c_str(), &file) != 0) continue;
    const auto [first, is_new] = known.try_emplace({file.st_dev, file.st_ino}, i);
    if (!is_new) repeated.emplace_back(first->second, i);
  }
  return repeated;
}

}  // namespace nmb
