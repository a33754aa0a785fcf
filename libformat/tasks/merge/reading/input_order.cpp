#include "merge/reading/input_order.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

// The first value of a variable in an input.
struct FirstValue {
  std::optional<double> value{};  // unset if the variable has no values
  std::string units{}, calendar{};

  bool has_units_of(const FirstValue& other) const {
    return units == other.units && calendar == other.calendar;
  }
};

Result<FirstValue> first_value(const Dataset& dataset, VarId id) {
  FirstValue out{std::nullopt, char_attribute(dataset.metadata, id, "units"),
                 char_attribute(dataset.metadata, id, "calendar")};
  NMB_ASSIGN(const VariableShape shape, dataset.shape(id));
  Hyperslab slab;
  slab.start.assign(shape.lengths.size(), 0);
  slab.count.assign(shape.lengths.size(), 1);
  if (std::ranges::find(shape.lengths, std::uint64_t{0}) != shape.lengths.end()) return out;
  NMB_TRY(dataset.read(id, slab, std::span(&out.value.emplace(), 1)));
  return out;
}

// Returns how each time becomes a time in the units of `first`. Returns no shifts if some values
// are not times, or if calendars differ.
std::vector<TimeShift> shifts_to(const FirstValue& first, const std::vector<FirstValue>& values) {
  const Result<CalendarTime> expected = CalendarTime::parse(first.units, first.calendar);
  std::vector<TimeShift> shifts;
  for (const FirstValue& value : values) {
    TimeShift& shift = shifts.emplace_back();
    if (!value.value) continue;
    const Result<CalendarTime> found = CalendarTime::parse(value.units, value.calendar);
    const auto known = expected.ok() && found.ok() ? found->shift_to(*expected) : std::nullopt;
    if (!known) return {};
    shift = *known;
  }
  return shifts;
}

// Converts times to the units of the first one. Does nothing if the values are not times or have
// different calendars; then the inputs cannot be joined.
void make_comparable(std::vector<FirstValue>* values) {
  const auto first = std::ranges::find_if(*values, [](const auto& v) { return !!v.value; });
  if (first == values->end() || std::ranges::all_of(*values, [&](const FirstValue& v) {
        return !v.value || v.has_units_of(*first);
      }))
    return;
  const std::vector<TimeShift> shifts = shifts_to(*first, *values);
  for (std::size_t i = 0; i < shifts.size(); ++i)
    if (std::optional<double>& value = (*values)[i].value)
      value = static_cast<double>(
          (static_cast<long double>(*value) * static_cast<long double>(shifts[i].from) +
           static_cast<long double>(shifts[i].shift)) /
          static_cast<long double>(shifts[i].to));
}

using Order = std::vector<std::uint64_t>;  // positions in the list of inputs

// Finds the order of inputs. Warnings are ignored, because they are reported when the inputs are
// planned.
class InputOrder {
 public:
  explicit InputOrder(const PackOptions& options) : options_(options), merge_(merge_of(options)) {}

  Result<Order> by_values() {
    const SplitPath wanted = split_path(options_.sort_by);
    std::vector<FirstValue> values;
    for (std::size_t i = 0; i < options_.inputs.size(); ++i) {
      Result<FirstValue> value = value_in(i, wanted);
      if (!value.ok()) return value.status().in_file(options_.input_name(i));
      values.push_back(*std::move(value));
    }
    if (options_.join().rebase_times) make_comparable(&values);
    return sorted(values);
  }

  Order unchanged() const { return sorted(std::vector<FirstValue>(options_.inputs.size())); }

  // Orders by the coordinate of the joined dimension. *dimension gets its name. Returns nullopt if
  // no input has the coordinate.
  Result<std::optional<Order>> by_coordinate(std::string* dimension) {
    std::vector<FirstValue> firsts;
    for (std::size_t i = 0; i < options_.inputs.size(); ++i) {
      Result<FirstValue> first = coordinate_in(i, dimension);
      // The error is reported when the input is planned.
      firsts.push_back(first.ok() ? *std::move(first) : FirstValue());
    }
    if (std::ranges::none_of(firsts, [](const FirstValue& first) { return !!first.value; }))
      return std::optional<Order>();
    make_comparable(&firsts);
    return std::optional(sorted(firsts));
  }

 private:
  static PackOptions merge_of(const PackOptions& options) {
    PackOptions merge;
    merge.inputs = options.inputs;
    merge.input_blocks = options.input_blocks;
    merge.external = options.external;
    merge.keep_statistics = false;
    return merge;
  }

  // Inputs without values come last.
  static Order sorted(const std::vector<FirstValue>& values) {
    Order order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::uint64_t i) {
      return std::pair(!values[i].value, values[i].value.value_or(0));
    });
    return order;
  }

  Status read(std::size_t index, const VisitBlock& visit) {
    const std::string& path = options_.inputs[index];
    if (!file_ || file_->name() != path) NMB_ASSIGN(file_, FileSource::open(path));
    return reader_.read(index, file_, visit);
  }

  Result<FirstValue> value_in(std::size_t index, const SplitPath& wanted) {
    std::optional<FirstValue> found;
    NMB_TRY(read(index, [&](InputBlock& block) -> Result<bool> {
      if (block.group != wanted.parent) return true;
      NMB_ASSIGN(const ClassicForm form, classic_form(block, std::make_shared<SourcePool>(1)));
      if (const auto id = form.dataset.metadata.find_variable(wanted.name))
        NMB_ASSIGN(found, first_value(form.dataset, *id));
      return false;
    }));
    if (found && !(found->value && std::isnan(*found->value))) return *std::move(found);
    return Status(Code::kConflict, options_.input_name(index), kNoOffset, "",
                  "found no value of " + in_quotes(options_.sort_by) + " to sort by");
  }

  // The result has no value if the input lacks the coordinate of the joined dimension or its
  // values.
  Result<FirstValue> coordinate_in(std::size_t index, std::string* dimension) {
    const std::string& along = options_.join().along;
    const SplitPath wanted = split_path(along);
    FirstValue found;
    NMB_TRY(read(index, [&](InputBlock& block) -> Result<bool> {
      if (along.starts_with('/') && block.group != without_slash(wanted.parent)) return true;
      NMB_ASSIGN(const ClassicForm form,
                 classic_form(block, std::make_shared<SourcePool>(1), std::string(wanted.name)));
      const Metadata& metadata = form.dataset.metadata;
      const std::optional<DimId> id =
          along.empty() ? metadata.record_dimension() : metadata.find_dimension(wanted.name);
      if (!id) return true;
      const std::string_view name = metadata.dimension(*id).name;
      *dimension = name;
      const std::optional<VarId> variable = metadata.find_variable(name);
      if (!variable) return true;
      NMB_ASSIGN(FirstValue first, first_value(form.dataset, *variable));
      if (first.value && !std::isnan(*first.value)) found = std::move(first);
      return !found.value;
    }));
    return found;
  }

  const PackOptions& options_;
  const PackOptions merge_;
  std::vector<std::string> warnings_;
  InputReader reader_{{merge_, kCachedBytesOfInput}, &warnings_};
  Source file_;
};

// Returns the order of the inputs. Sets *note if blocks count as inputs.
Result<Order> order_of(const PackOptions& options, std::string* note) {
  constexpr std::string_view kFirstAxis = "axis:0";
  InputOrder order(options);
  if (!options.sort_by.empty()) {
    *note = "in the order of " + in_quotes(options.sort_by);
    return order.by_values();
  }
  *note = "in the order of their names";
  if (!options.joins() || options.sorts_blocks_by_name || options.join().along == kFirstAxis)
    return order.unchanged();
  std::string dimension = "the joined dimension";
  NMB_ASSIGN(std::optional<Order> found, order.by_coordinate(&dimension));
  if (!found) {
    *note += ", because they have no coordinate variable of " + dimension;
    return order.unchanged();
  }
  *note = "in the order of " + dimension;
  return *std::move(found);
}

template <class T>
std::vector<T> in_order(const Order& order, std::vector<T> values) {
  std::vector<T> out;
  out.reserve(order.size());
  for (const std::uint64_t i : order) out.push_back(std::move(values[i]));
  return out;
}

}  // namespace

Status order_inputs(Communicator& ranks, PackOptions* options, PackReport* report) {
  const bool is_divided = !options->input_blocks.empty();
  if (options->sort_by.empty() && !is_divided) return {};
  std::pair<Status, Order> order;
  std::string note;
  if (ranks.rank() == 0) {
    Result<Order> found = order_of(*options, &note);
    order.first = found.status();
    if (found.ok()) order.second = *std::move(found);
  }
  NMB_TRY(broadcast_fields(ranks, 0, &order));
  NMB_TRY(order.first);
  options->inputs = in_order(order.second, std::move(options->inputs));
  if (!is_divided) return {};
  options->input_blocks = in_order(order.second, std::move(options->input_blocks));
  report->archive_note = note;
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
