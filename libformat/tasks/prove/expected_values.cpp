#include "prove/expected_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "compare/canonical_types.h"
#include "hdf5_types/hdf5_section.h"
#include "model/values.h"
#include "wire/endian.h"

namespace nmb {

namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ using Quad = __float128;
#else
using Quad = long double;  // also has 113 bits on machines without __float128
#endif

constexpr const char *kFillValue = "_FillValue", *kMissingValue = "missing_value";

Quad load_number(Type type, const std::byte* value) {
  switch (type) {
    case Type::kByte:
      return static_cast<std::int8_t>(*value);
    case Type::kChar:
    case Type::kUByte:
      return static_cast<std::uint8_t>(*value);
    case Type::kShort:
      return static_cast<std::int16_t>(load_be<std::uint16_t>(value));
    case Type::kUShort:
      return load_be<std::uint16_t>(value);
    case Type::kInt:
      return static_cast<std::int32_t>(load_be<std::uint32_t>(value));
    case Type::kUInt:
      return load_be<std::uint32_t>(value);
    case Type::kInt64:
      return static_cast<Quad>(static_cast<std::int64_t>(load_be<std::uint64_t>(value)));
    case Type::kUInt64:
      return static_cast<Quad>(load_be<std::uint64_t>(value));
    case Type::kFloat:
      return std::bit_cast<float>(load_be<std::uint32_t>(value));
    case Type::kDouble:
      return std::bit_cast<double>(load_be<std::uint64_t>(value));
  }
  return 0;
}

bool is_floating(Type type) { return type == Type::kFloat || type == Type::kDouble; }

// Stores an integer as big-endian bytes.
void store_integer(std::int64_t number, std::span<std::byte> to) {
  auto rest = static_cast<std::uint64_t>(number);
  for (std::size_t i = to.size(); i-- > 0; rest >>= 8) to[i] = static_cast<std::byte>(rest);
}

void append_number(Type type, Quad number, std::vector<std::byte>* out) {
  const std::size_t at = out->size();
  out->resize(at + type_size(type));
  std::byte* const to = out->data() + at;
  if (type == Type::kFloat)
    store_be(to, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
  else if (type == Type::kDouble)
    store_be(to, std::bit_cast<std::uint64_t>(static_cast<double>(number)));
  else if (type == Type::kUInt64)
    store_be(to, static_cast<std::uint64_t>(number));
  else
    store_integer(static_cast<std::int64_t>(number), std::span(to, type_size(type)));
}

bool is_one_of(std::span<const std::byte> value, std::span<const std::byte> values) {
  for (std::size_t at = 0; at + value.size() <= values.size(); at += value.size())
    if (std::ranges::equal(values.subspan(at, value.size()), value)) return true;
  return false;
}

// The units of a variable. Bounds without units have those of their coordinate.
struct TimeUnits {
  std::string units, calendar;
  bool operator==(const TimeUnits&) const = default;
};

Result<TimeUnits> units_of(DatasetContent& block, std::size_t variable) {
  NMB_ASSIGN(std::string units, text_of(block, variable, "units"));
  NMB_ASSIGN(std::string calendar, text_of(block, variable, "calendar"));
  return TimeUnits{std::move(units), std::move(calendar)};
}

Result<TimeUnits> time_units_of(DatasetContent& block, std::size_t variable) {
  NMB_ASSIGN(const TimeUnits own, units_of(block, variable));
  if (!own.units.empty()) return own;
  NMB_ASSIGN(const std::string name, coordinate_with_bounds(block, block.variable_name(variable)));
  const auto coordinate = find_variable(block, name);
  return coordinate && !name.empty() ? units_of(block, *coordinate) : Result(own);
}

// Returns how times become times in the units of the merged file, or nullopt if they stay.
Result<std::optional<TimeShift>> shift_of(DatasetContent& input, std::size_t from,
                                          DatasetContent& merged, std::size_t to) {
  NMB_ASSIGN(const TimeUnits found, time_units_of(input, from));
  NMB_ASSIGN(const TimeUnits expected, time_units_of(merged, to));
  if (found == expected) return std::optional<TimeShift>();
  const Result<CalendarTime> of_input = CalendarTime::parse(found.units, found.calendar);
  const Result<CalendarTime> of_merged = CalendarTime::parse(expected.units, expected.calendar);
  if (!of_input.ok() || !of_merged.ok()) return std::optional<TimeShift>();
  return of_input->shift_to(*of_merged);
}

// Returns the values of a variable that are not times.
Result<std::vector<std::byte>> kept_values(DatasetContent& merged, std::size_t variable, Type type,
                                           bool has_default_fill) {
  std::vector<std::byte> kept;
  NMB_ASSIGN(const auto fill, find_attribute(merged, variable, kFillValue));
  NMB_ASSIGN(const auto missing, find_attribute(merged, variable, kMissingValue));
  for (const auto& attribute : {fill, missing})
    if (attribute && attribute->type == type_name(type))
      kept.insert(kept.end(), attribute->values.begin(), attribute->values.end());
  if (fill || !has_default_fill || type_size(type) == 1) return kept;
  const std::vector<std::byte> unwritten = default_fill_value(type);
  kept.insert(kept.end(), unwritten.begin(), unwritten.end());
  return kept;
}

// Returns whether the default fill value means a missing value in the input, although no attribute
// says so.
Result<bool> has_hidden_fill(DatasetContent& input, std::size_t from, Type type) {
  if (!input.is_netcdf() || type_size(type) == 1) return false;
  for (const char* name : {kFillValue, kMissingValue, "flag_values"}) {
    NMB_ASSIGN(const auto attribute, find_attribute(input, from, name));
    if (!attribute || attribute->type != type_name(type)) continue;
    if (name == kFillValue || is_one_of(default_fill_value(type), attribute->values)) return false;
  }
  return true;
}

Result<ExpectedValues> expected_numbers(DatasetContent& input, std::size_t from, Type type,
                                        DatasetContent& merged, std::size_t to, Type wide) {
  NMB_ASSIGN(bool maps_fill, has_hidden_fill(input, from, type));
  if (maps_fill) NMB_ASSIGN(maps_fill, has_hidden_fill(merged, to, wide));
  if (!maps_fill) return widened(type, wide, {}, {});
  return widened(type, wide, default_fill_value(type), default_fill_value(wide));
}

}  // namespace

std::optional<Type> classic_type_of(const DatasetContent& block, std::size_t variable) {
  const Type type = block.type(variable);
  const TypeTable* const types = block.types().table();
  return types ? types->classic(type) : std::optional(type);
}

std::optional<std::size_t> find_variable(const DatasetContent& block, std::string_view name) {
  std::size_t first = 0, last = block.variable_count();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (block.variable_name(middle) < name)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == block.variable_count() || block.variable_name(first) != name) return std::nullopt;
  return first;
}

Result<std::optional<AttributeContent>> find_attribute(DatasetContent& block, std::size_t variable,
                                                       std::string_view name) {
  NMB_ASSIGN(std::vector<AttributeContent> all, block.variable_attributes(variable));
  const auto found = std::ranges::find(all, name, &AttributeContent::name);
  return found == all.end() ? std::optional<AttributeContent>() : std::move(*found);
}

Result<std::string> text_of(DatasetContent& block, std::size_t variable, std::string_view name) {
  NMB_ASSIGN(const auto attribute, find_attribute(block, variable, name));
  if (!attribute || attribute->type != type_name(Type::kChar)) return std::string();
  return std::string(reinterpret_cast<const char*>(attribute->values.data()),
                     attribute->values.size());
}

Result<std::string> coordinate_with_bounds(DatasetContent& block, const std::string& bounds) {
  for (std::size_t v = 0; v < block.variable_count(); ++v)
    for (const char* attribute : {"bounds", "climatology"}) {
      NMB_ASSIGN(const std::string text, text_of(block, v, attribute));
      if (text == bounds) return block.variable_name(v);
    }
  return std::string();
}

double number_of_canonical(Type type, const std::byte* value) {
  return static_cast<double>(load_number(type, value));
}

ExpectedValues widened(Type from, Type to, std::vector<std::byte> fill,
                       std::vector<std::byte> wide_fill) {
  return [from, to, fill = std::move(fill), wide_fill = std::move(wide_fill)](
             std::span<const std::byte> values, std::vector<std::byte>* out) {
    const std::size_t size = type_size(from), begin = out->size();
    for (std::size_t at = 0; at < values.size(); at += size)
      if (std::ranges::equal(values.subspan(at, size), fill))
        out->insert(out->end(), wide_fill.begin(), wide_fill.end());
      else
        append_number(to, load_number(from, values.data() + at), out);
    make_nans_canonical(to, std::span(*out).subspan(begin));
  };
}

ExpectedValues turned(Type type, double degrees) {
  return [type, degrees](std::span<const std::byte> values, std::vector<std::byte>* out) {
    for (std::size_t at = 0; at < values.size(); at += type_size(type)) {
      const double number = number_of_canonical(type, values.data() + at) + degrees;
      append_number(type, static_cast<Quad>(number), out);
    }
  };
}

ExpectedValues one_after_the_other(ExpectedValues first, ExpectedValues second) {
  if (!first || !second) return first ? first : second;
  return [first = std::move(first), second = std::move(second)](std::span<const std::byte> values,
                                                                std::vector<std::byte>* out) {
    std::vector<std::byte> between;
    first(values, &between);
    second(between, out);
  };
}

ExpectedValues rebased(Type type, const TimeShift& shift, std::vector<std::byte> kept) {
  return [type, shift, kept = std::move(kept)](std::span<const std::byte> values,
                                               std::vector<std::byte>* out) {
    const std::size_t size = type_size(type);
    for (std::size_t at = 0; at < values.size(); at += size) {
      const std::span<const std::byte> value = values.subspan(at, size);
      const Quad time = load_number(type, value.data());
      const bool is_time = !is_floating(type) || std::isfinite(static_cast<double>(time));
      if (is_time && !is_one_of(value, kept))
        append_number(type, (time * shift.from + shift.shift) / shift.to, out);
      else
        out->insert(out->end(), value.begin(), value.end());
    }
  };
}

Result<ExpectedValues> expected_values(DatasetContent& input, std::size_t from,
                                       DatasetContent& merged, std::size_t to, bool rebases) {
  const std::optional<Type> type = classic_type_of(input, from);
  const std::optional<Type> wide = classic_type_of(merged, to);
  ExpectedValues numbers, times;
  NMB_ASSIGN(const std::string found, input.type_text(from));
  NMB_ASSIGN(const std::string expected, merged.type_text(to));
  if (found != expected) {
    if (!type || !wide || *type == Type::kChar || *wide == Type::kChar)
      return Status(Code::kUnsupported,
                    "found values of type " + found + " that became " + expected);
    NMB_ASSIGN(numbers, expected_numbers(input, from, *type, merged, to, *wide));
  }
  if (rebases && wide && *wide != Type::kChar) {
    NMB_ASSIGN(const std::optional<TimeShift> shift, shift_of(input, from, merged, to));
    NMB_ASSIGN(std::vector<std::byte> kept, kept_values(merged, to, *wide, input.is_netcdf()));
    if (shift) times = rebased(*wide, *shift, std::move(kept));
  }
  return one_after_the_other(std::move(numbers), std::move(times));
}

Result<std::vector<std::byte>> missing_value_of(DatasetContent& merged, std::size_t variable) {
  NMB_ASSIGN(const std::string type, merged.type_text(variable));
  const std::optional<Type> classic = classic_type_of(merged, variable);
  for (const char* name : {kFillValue, kMissingValue}) {
    NMB_ASSIGN(auto attribute, find_attribute(merged, variable, name));
    if (attribute && attribute->type == type && attribute->count == 1 &&
        (classic || name == kFillValue))
      return std::move(attribute->values);
  }
  if (classic) return default_fill_value(*classic);
  const CanonicalTypes& types = merged.types();
  const Type own = merged.type(variable);
  std::vector<std::byte> stored(types.stored_bytes(own)), value;
  // A single string counts as characters if it is an attribute.
  const bool is_string = TypeTable::is_extended(own) &&
                         types.table()->at(own).type_class == TypeClass::kString &&
                         types.table()->at(own).variable_length;
  NMB_ASSIGN(const auto text, find_attribute(merged, variable, kFillValue));
  if (is_string && text && text->type == type_name(Type::kChar)) {
    store_le(stored.data(), std::uint64_t{text->values.size()});
    store_le(stored.data() + 8, std::uint64_t{stored.size()});
    stored.insert(stored.end(), text->values.begin(), text->values.end());
  } else if (!types.has_heap(own))
    for (const hdf5::Property& p : merged.properties(variable))
      if (p.attribute == hdf5::kNoAttribute && p.number == hdf5::Property::Number::kCreation &&
          p.creation.fill_value.size() == stored.size())
        stored = p.creation.fill_value;
  std::uint64_t left = stored.size();
  NMB_TRY(types.append(own, stored.data(), MemorySource(stored), &left, &value));
  return value;
}

}  // namespace nmb
