// Encodes and decodes the statistics of a variable as a row (see format/table/statistics_row.h).
#include "format/table/statistics_row.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "values/statistics/value_counter.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr const char* kRule = "R-ST-1";
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

// Returns the bits of a value in external form.
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
    in->fail(kRule, "found buckets that do not ascend, or whose counts do not fit");
}

}  // namespace

std::optional<Type> counted_type(const Metadata& metadata, VarId variable) {
  const Type type = metadata.variable(variable).type;
  return TypeTable::is_extended(type) ? metadata.extension()->types.classic(type)
                                      : std::optional<Type>(type);
}

TableRow statistics_row(std::string_view name, std::uint64_t order,
                        const VariableStatistics& statistics, std::vector<std::byte>* histogram) {
  histogram->clear();
  TableRow row;
  row.name = name;
  row.order = order;
  row.kind = static_cast<std::uint8_t>(statistics.type);
  row.elements = statistics.elements;
  row.missing = statistics.missing;
  row.nans = statistics.nans;
  if (!statistics.has_range) return row;
  row.minimum = bits_of(statistics.type, statistics.minimum);
  row.maximum = bits_of(statistics.type, statistics.maximum);
  if (statistics.histogram.buckets.empty()) return row;
  put_histogram(statistics.histogram, histogram);
  row.bytes = *histogram;
  return row;
}

Result<VariableStatistics> row_statistics(const TableRow& row) {
  const auto wrong = [](std::string what) {
    return Status(Code::kDamaged, {}, kNoOffset, kRule, std::move(what));
  };
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
      return wrong("found a range or a histogram, although no values can have one");
    return v;
  }
  if (!fits_type(v.type, row.minimum) || !fits_type(v.type, row.maximum))
    return wrong("found a range of more bits than the type has");
  v.minimum = external_of(v.type, row.minimum);
  v.maximum = external_of(v.type, row.maximum);
  const std::int64_t least = value_key(v.type, v.minimum.data());
  const std::int64_t greatest = value_key(v.type, v.maximum.data());
  if (least > greatest || (is_real && (is_nan_key(v.type, least) || is_nan_key(v.type, greatest))))
    return wrong("found a minimum greater than the maximum, or a NaN in the range");
  if (row.bytes.empty()) return v;
  ItemsIn in(row.bytes, 0);
  take_histogram(&in, &v);
  if (in.ok() && in.remaining() != 0)
    in.fail(kRule, joined_text("found ", in.remaining(), " bytes after the last count"));
  if (!in.status().ok()) return wrong(in.status().message());
  return v;
}

}  // namespace nmb
