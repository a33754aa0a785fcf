#include "table/statistics_row.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "model/name_rules.h"
#include "table/tag_row.h"
#include "values/statistics/value_counter.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr const char* kRule = "R-ST-1";
constexpr const char* kPartsRule = "R-ST-4";
constexpr const char* kFunctionRule = "R-ST-5";
constexpr std::string_view kStatisticNames[] = {"elements", "missing", "nan", "min", "max"};
constexpr unsigned kMostShift = 63;

Status wrong_row(const char* rule, std::string what) {
  return Status(Code::kDamaged, {}, kNoOffset, rule, std::move(what));
}

bool is_number(std::uint64_t kind) {
  return kind >= static_cast<std::uint64_t>(Type::kByte) &&
         kind <= static_cast<std::uint64_t>(Type::kUInt64) &&
         kind != static_cast<std::uint64_t>(Type::kChar);
}

// Returns whether the range is valid. minimum, maximum: in external form.
bool is_range(Type type, const std::array<std::byte, 8>& minimum,
              const std::array<std::byte, 8>& maximum) {
  const std::int64_t least = value_key(type, minimum.data());
  const std::int64_t greatest = value_key(type, maximum.data());
  const bool is_real = type == Type::kFloat || type == Type::kDouble;
  return least <= greatest && !(is_real && (is_nan_key(type, least) || is_nan_key(type, greatest)));
}
constexpr std::size_t kCodeBytes = 3;

std::uint8_t width_of(std::uint64_t largest) {
  return static_cast<std::uint8_t>((std::bit_width(largest) + 7) / 8);
}

void put_number(std::uint64_t value, unsigned width, ItemsOut* out) {
  std::byte bytes[8];
  store_le(bytes, value);
  out->put(std::span<const std::byte>(bytes).first(width));
}

std::uint64_t take_number(unsigned width, ItemsIn* in) {
  std::byte bytes[8]{};
  std::ranges::copy(in->take(width, kRule), bytes);
  return load_le<std::uint64_t>(bytes);
}

// Returns the bits of a value in external form as a number.
std::uint64_t bits_of(Type type, const std::array<std::byte, 8>& external) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < type_size(type); ++i)
    bits = bits << 8 | std::to_integer<std::uint64_t>(external[i]);
  return bits;
}

std::array<std::byte, 8> external_of(Type type, std::uint64_t bits) {
  std::array<std::byte, 8> external{};
  for (std::size_t i = type_size(type); i > 0; bits >>= 8)
    external[--i] = static_cast<std::byte>(bits & 0xff);
  return external;
}

bool fits_type(Type type, std::uint64_t bits) {
  return type_size(type) == 8 || bits >> (8 * type_size(type)) == 0;
}

void put_histogram(const Histogram& histogram, std::vector<std::byte>* bytes) {
  ItemsOut out(bytes);
  std::uint64_t largest = 0;
  for (const auto& bucket : histogram.buckets) largest = std::max(largest, bucket.count);
  out.put(static_cast<std::uint8_t>(histogram.bits));
  out.put(width_of(largest));
  out.put(static_cast<std::uint16_t>(histogram.buckets.size()));
  for (const auto& bucket : histogram.buckets) put_number(bucket.code, kCodeBytes, &out);
  for (const auto& bucket : histogram.buckets) put_number(bucket.count, width_of(largest), &out);
}

void put_parts(Type type, const PartRanges& ranges, std::vector<std::byte>* bytes) {
  ItemsOut out(bytes);
  std::uint64_t largest = 0;
  for (const auto& part : ranges.parts) largest = std::max(largest, part.ordered);
  out.put(static_cast<std::uint8_t>(ranges.shift));
  out.put(width_of(largest));
  const std::size_t size = type_size(type);
  for (const auto& part : ranges.parts)
    out.put(std::span<const std::byte>(part.minimum).first(size));
  for (const auto& part : ranges.parts)
    out.put(std::span<const std::byte>(part.maximum).first(size));
  for (const auto& part : ranges.parts) put_number(part.ordered, width_of(largest), &out);
}

void take_histogram(ItemsIn* in, VariableStatistics* v) {
  Histogram& histogram = v->histogram;
  histogram.bits = in->number<std::uint8_t>(kRule);
  const unsigned width = in->number<std::uint8_t>(kRule);
  const std::size_t count = in->number<std::uint16_t>(kRule);
  if (histogram.bits < 1 || histogram.bits > Histogram::kMostBits)
    in->fail(kRule, joined_text("found codes of ", histogram.bits, " bits, expected 1 to 24"));
  if (width < 1 || width > 8)
    in->fail(kRule, joined_text("found counts of ", width, " bytes, expected 1 to 8"));
  if (count < 1 || count > Histogram::most_buckets(v->elements))
    in->fail(kRule, joined_text("found ", count, " buckets, expected 1 to ",
                                Histogram::most_buckets(v->elements)));
  if (!in->ok()) return;
  histogram.buckets.resize(count);
  for (auto& bucket : histogram.buckets)
    bucket.code = static_cast<std::uint32_t>(take_number(kCodeBytes, in));
  std::uint64_t sum = 0, largest = 0;
  bool fits = true;
  for (auto& bucket : histogram.buckets) {
    bucket.count = take_number(width, in);
    fits = fits && bucket.count > 0 && checked_add(sum, bucket.count, &sum);
    largest = std::max(largest, bucket.count);
  }
  for (std::size_t i = 1; i < count; ++i)
    fits = fits && histogram.buckets[i - 1].code < histogram.buckets[i].code;
  if (!fits || histogram.buckets.back().code >> histogram.bits != 0 || width_of(largest) != width ||
      sum != v->ordered())
    in->fail(kRule, "found buckets that do not ascend, or buckets whose codes or counts are wrong");
}

}  // namespace

StatisticsName statistics_name(std::string_view row_name) {
  using RowKind = StatisticsName::Kind;
  const std::size_t end = row_name.find('\0');
  if (end == row_name.npos) return {RowKind::kVariable, row_name, {}};
  const std::string_view function = row_name.substr(end + 1);
  return {function.empty() ? RowKind::kParts : RowKind::kFunction, row_name.substr(0, end),
          function};
}

std::string statistics_row_name(std::string_view variable, std::string_view function) {
  std::string name(variable);
  name += '\0';
  name += function;
  return name;
}

void add_statistics_rows(std::string_view variable, std::uint64_t order,
                         const VariableStatistics& statistics, TableRows* rows) {
  // The first NUL of a row's name ends the name of the variable.
  if (variable.empty() || variable.find('\0') != variable.npos) return;
  std::vector<std::byte> bytes;
  const auto add = [&](TableRow row) {
    row.order = order;
    if (row.name.size() <= kMostRowName) rows->add(row);
  };
  const Type type = statistics.type;
  TableRow row;
  row.name = variable;
  row.kind = static_cast<std::uint8_t>(type);
  row.elements = statistics.elements;
  row.missing = statistics.missing;
  row.nans = statistics.nans;
  if (statistics.has_range) {
    row.minimum = bits_of(type, statistics.minimum);
    row.maximum = bits_of(type, statistics.maximum);
    if (!statistics.histogram.buckets.empty()) put_histogram(statistics.histogram, &bytes);
    row.bytes = bytes;
  }
  add(row);
  if (statistics.has_range && !statistics.parts.parts.empty()) {
    const std::string name = statistics_row_name(variable, {});
    TableRow parts;
    parts.name = name;
    parts.kind = static_cast<std::uint8_t>(type);
    parts.elements = statistics.parts.parts.size();
    bytes.clear();
    put_parts(type, statistics.parts, &bytes);
    parts.bytes = bytes;
    add(parts);
  }
  for (const FunctionResult& result : statistics.functions) {
    const Tag tag{statistics_row_name(variable, result.function), result.value};
    add(tag_row(tag, order));
  }
}

Result<VariableStatistics> row_statistics(const TableRow& row) {
  const auto wrong = [](std::string what) { return wrong_row(kRule, std::move(what)); };
  VariableStatistics v;
  if (row.kind < static_cast<std::uint8_t>(Type::kByte) ||
      row.kind > static_cast<std::uint8_t>(Type::kUInt64))
    return wrong("found statistics of a type that is not classic");
  v.computed = true;
  v.type = static_cast<Type>(row.kind);
  v.elements = row.elements;
  v.missing = row.missing;
  v.nans = row.nans;
  std::uint64_t out = 0;
  if (!checked_add(v.missing, v.nans, &out) || out > v.elements || v.elements >> 63)
    return wrong("found more missing values and NaNs than values");
  const bool is_real = v.type == Type::kFloat || v.type == Type::kDouble;
  if (v.nans != 0 && !is_real) return wrong("found NaN among integers");
  v.has_range = v.type != Type::kChar && v.elements > out;
  if (!v.has_range) {
    if (row.minimum != 0 || row.maximum != 0 || !row.bytes.empty())
      return wrong("found a range or a histogram of a variable without ordered values");
    return v;
  }
  if (!fits_type(v.type, row.minimum) || !fits_type(v.type, row.maximum))
    return wrong("found a minimum or maximum with more bits than the type has");
  v.minimum = external_of(v.type, row.minimum);
  v.maximum = external_of(v.type, row.maximum);
  if (!is_range(v.type, v.minimum, v.maximum))
    return wrong("found a minimum greater than the maximum, or a NaN in the range");
  if (row.bytes.empty()) return v;
  ItemsIn in(row.bytes, 0);
  take_histogram(&in, &v);
  if (in.ok() && in.remaining() != 0)
    in.fail(kRule, joined_text("found ", in.remaining(), " bytes after the last count"));
  if (!in.status().ok()) return wrong(in.status().message());
  return v;
}

Result<PartRanges> row_parts(const TableRow& row) {
  const auto wrong = [](std::string what) { return wrong_row(kPartsRule, std::move(what)); };
  if (!is_number(row.kind)) return wrong("found ranges of parts of a type that is not numeric");
  const auto type = static_cast<Type>(row.kind);
  if (row.elements < 2 || row.elements > PartRanges::kMostParts)
    return wrong(
        joined_text("found ", row.elements, " parts, expected 2 to ", PartRanges::kMostParts));
  if (row.missing != 0 || row.nans != 0 || row.minimum != 0 || row.maximum != 0)
    return wrong("found values beside the ranges of parts");
  PartRanges ranges;
  ItemsIn in(row.bytes, 0);
  ranges.shift = in.number<std::uint8_t>(kPartsRule);
  const unsigned width = in.number<std::uint8_t>(kPartsRule);
  const std::size_t count = static_cast<std::size_t>(row.elements), size = type_size(type);
  if (in.ok() && (ranges.shift > kMostShift || width < 1 || width > 8 ||
                  in.remaining() != count * (2 * size + width)))
    return wrong(joined_text("found a shift of ", ranges.shift, ", numbers of ", width,
                             " bytes and ", in.remaining(), " bytes of ranges"));
  if (!in.ok()) return wrong(in.status().message());
  ranges.parts.resize(count);
  for (auto& part : ranges.parts)
    std::ranges::copy(in.take(size, kPartsRule), part.minimum.begin());
  for (auto& part : ranges.parts)
    std::ranges::copy(in.take(size, kPartsRule), part.maximum.begin());
  std::uint64_t largest = 0, sum = 0;
  for (auto& part : ranges.parts) {
    part.ordered = take_number(width, &in);
    largest = std::max(largest, part.ordered);
    if (!checked_add(sum, part.ordered, &sum) || sum >> 63 != 0)
      return wrong("found parts with more than 2^63 - 1 values");
    if (!is_range(type, part.minimum, part.maximum))
      return wrong("found a part whose minimum is greater than its maximum, or a NaN in its range");
    if (part.ordered == 0 && (bits_of(type, part.minimum) | bits_of(type, part.maximum)) != 0)
      return wrong("found a range of a part without ordered values");
  }
  if (width_of(largest) != width)
    return wrong(joined_text("found numbers of ", width, " bytes, expected ", width_of(largest)));
  return ranges;
}

Result<FunctionResult> row_function(const TableRow& row) {
  const auto wrong = [](std::string what) { return wrong_row(kFunctionRule, std::move(what)); };
  const std::string_view function = statistics_name(row.name).function;
  if (function.find('\0') != function.npos || !is_utf8(function) ||
      std::ranges::find(kStatisticNames, function) != std::end(kStatisticNames))
    return wrong("found a function with the name " + in_quotes(function));
  if (row.elements != 0 || row.missing != 0 || row.nans != 0 || row.maximum != 0)
    return wrong("found values beside the result of a function");
  TableRow tag = row;
  tag.name = function;
  Result<TagValue> value = row_tag(tag);
  if (!value.ok()) return wrong(value.status().message());
  return FunctionResult{std::string(function), *std::move(value)};
}

Status add_statistics_row(const TableRow& row, VariableStatistics* variable) {
  switch (statistics_name(row.name).kind) {
    case StatisticsName::Kind::kVariable: {
      NMB_ASSIGN(VariableStatistics statistics, row_statistics(row));
      *variable = std::move(statistics);
      return {};
    }
    case StatisticsName::Kind::kParts: {
      NMB_ASSIGN(variable->parts, row_parts(row));
      return {};
    }
    case StatisticsName::Kind::kFunction:
      break;
  }
  NMB_ASSIGN(FunctionResult result, row_function(row));
  variable->functions.push_back(std::move(result));
  return {};
}

bool fits_variable(const Metadata& metadata, const TableRow& row) {
  const StatisticsName name = statistics_name(row.name);
  const std::optional<VarId> variable = metadata.find_variable(name.variable);
  return variable && (name.kind == StatisticsName::Kind::kFunction ||
                      counted_type(metadata, *variable) == static_cast<Type>(row.kind));
}

Status check_statistics_row(const TableRow& row) {
  switch (statistics_name(row.name).kind) {
    case StatisticsName::Kind::kVariable:
      return row_statistics(row).status();
    case StatisticsName::Kind::kParts:
      return row_parts(row).status();
    case StatisticsName::Kind::kFunction:
      break;
  }
  return row_function(row).status();
}

Status check_functions(std::span<const ValueFunction> functions) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::string& name = functions[i].name;
    if (name.empty() || name.find('\0') != name.npos || !is_utf8(name) ||
        std::ranges::find(kStatisticNames, name) != std::end(kStatisticNames))
      return Status(Code::kUsage, "invalid name of a function of values: " + in_quotes(name));
    if (!functions[i].make)
      return Status(Code::kUsage, "function of values " + in_quotes(name) + " cannot be made");
    if (std::ranges::find(functions.first(i), name, &ValueFunction::name) !=
        functions.first(i).end())
      return Status(Code::kUsage, "found two functions of values with the name " + in_quotes(name));
  }
  return {};
}

}  // namespace nmb
