// The statistics section (see statistics/statistics_section.h).
#include "statistics/statistics_section.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "block/sections.h"
#include "statistics/value_counter.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/items.h"

namespace nmb {

namespace {

constexpr const char* kRule = "R-ST-1";
enum Row : std::uint8_t { kNotCounted = 0, kWithoutRange = 1, kWithRange = 2 };
constexpr std::size_t kCodeBytes = 3;

using Member = std::uint64_t VariableStatistics::*;
constexpr Member kColumns[] = {&VariableStatistics::elements, &VariableStatistics::missing,
                               &VariableStatistics::nans};

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

void put_value(const VariableStatistics& v, const std::array<std::byte, 8>& external,
               ItemsOut* out) {
  std::array<std::byte, 8> bytes = external;
  std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(type_size(v.type)));
  out->put(std::span<const std::byte>(bytes).first(type_size(v.type)));
}

void take_value(Type type, ItemsIn* in, std::array<std::byte, 8>* external) {
  std::ranges::copy(in->take(type_size(type), kRule), external->begin());
  std::reverse(external->begin(), external->begin() + static_cast<std::ptrdiff_t>(type_size(type)));
}

void put_histogram(const Histogram& histogram, ItemsOut* out) {
  std::uint64_t largest = 0;
  for (const auto& bucket : histogram.buckets) largest = std::max(largest, bucket.count);
  out->put(static_cast<std::uint8_t>(histogram.bits));
  out->put(width_of(largest));
  out->put(static_cast<std::uint16_t>(histogram.buckets.size()));
  for (const auto& bucket : histogram.buckets) put_number(bucket.code, kCodeBytes, out);
  for (const auto& bucket : histogram.buckets) put_number(bucket.count, width_of(largest), out);
}

void take_histogram(ItemsIn* in, VariableStatistics* v) {
  Histogram& histogram = v->histogram;
  histogram.bits = in->number<std::uint8_t>(kRule);
  const unsigned width = in->number<std::uint8_t>(kRule);
  const std::size_t count = in->number<std::uint16_t>(kRule);
  if (histogram.bits < 1 || histogram.bits > Histogram::kMostBits)
    in->fail(kRule, "found codes of " + std::to_string(histogram.bits) + " bits, expected 1 to 24");
  if (width < 1 || width > 8)
    in->fail(kRule, "found counts of " + std::to_string(width) + " bytes, expected 1 to 8");
  if (count < 1 || count > Histogram::most_buckets(v->elements))
    in->fail(kRule, "found " + std::to_string(count) + " buckets, expected 1 to " +
                        std::to_string(Histogram::most_buckets(v->elements)));
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
    in->fail(kRule, "found buckets that do not ascend or do not hold what was counted");
}

// The classic type whose values a variable has.
std::optional<Type> counted_type(const Metadata& metadata, VarId v) {
  const Type type = metadata.variable(v).type;
  return TypeTable::is_extended(type) ? metadata.extension()->types.classic(type)
                                      : std::optional<Type>(type);
}

void check_row(ItemsIn* in, const VariableStatistics& v) {
  std::uint64_t out = 0;
  if (!checked_add(v.missing, v.nans, &out) || out > v.elements || v.elements >> 63)
    in->fail(kRule, "found more values missing or NaN than there are");
  const bool is_real = v.type == Type::kFloat || v.type == Type::kDouble;
  const bool has_range = v.type != Type::kChar && v.elements > out;
  if ((v.nans != 0 && !is_real) || (!v.computed && v.elements != 0) || v.has_range != has_range)
    in->fail(kRule, "found counts that do not go with the type of a variable");
}

}  // namespace

std::uint64_t statistics_state(const BlockEntry& entry) {
  std::byte bytes[40];
  std::size_t at = 0;
  for (const std::uint64_t part :
       {entry.sum, entry.extent_length, entry.extent_sum, entry.records, entry.map.sum}) {
    store_le(bytes + at, part);
    at += sizeof part;
  }
  return sum_of(bytes);
}

std::vector<std::byte> encode_statistics(const BlockStatistics& statistics, std::uint64_t state) {
  std::vector<std::byte> sections;
  const auto& variables = statistics.variables;
  append_section(kSectionStatistics, 0, &sections, [&](ItemsOut* out) {
    out->put(state);
    out->put(static_cast<std::uint32_t>(variables.size()));
    out->put(static_cast<std::uint8_t>(statistics.level));
    unsigned widths[std::size(kColumns)];
    for (std::size_t c = 0; c < std::size(kColumns); ++c) {
      std::uint64_t largest = 0;
      for (const VariableStatistics& v : variables) largest = std::max(largest, v.*kColumns[c]);
      widths[c] = width_of(largest);
      out->put(width_of(largest));
    }
    for (const VariableStatistics& v : variables)
      out->put(static_cast<std::uint8_t>(v.has_range  ? kWithRange
                                         : v.computed ? kWithoutRange
                                                      : kNotCounted));
    for (std::size_t c = 0; c < std::size(kColumns); ++c)
      for (const VariableStatistics& v : variables) put_number(v.*kColumns[c], widths[c], out);
    for (const VariableStatistics& v : variables) {
      if (!v.has_range) continue;
      put_value(v, v.minimum, out);
      put_value(v, v.maximum, out);
    }
    if (statistics.level != StatisticsLevel::kHistogram) return;
    for (const VariableStatistics& v : variables)
      if (v.has_range) put_histogram(v.histogram, out);
  });
  return sections;
}

void set_statistics_state(std::span<std::byte> sections, std::uint64_t state) {
  store_le(sections.data() + kSectionHeader, state);
}

Result<BlockStatistics> decode_statistics(std::span<const std::byte> payload,
                                          const Metadata& metadata, std::uint64_t* state) {
  ItemsIn in(payload, 0);
  BlockStatistics out;
  *state = in.number<std::uint64_t>(kRule);
  const std::uint32_t rows = in.number<std::uint32_t>(kRule);
  const unsigned level = in.number<std::uint8_t>(kRule);
  unsigned widths[std::size(kColumns)];
  for (unsigned& width : widths) width = in.number<std::uint8_t>(kRule);
  if (rows != metadata.variable_count())
    in.fail(kRule, "found " + std::to_string(rows) + " variables, expected " +
                       std::to_string(metadata.variable_count()));
  if (level != 1 && level != 2)
    in.fail(kRule, "found level " + std::to_string(level) + ", expected 1 or 2");
  if (std::ranges::any_of(widths, [](unsigned width) { return width > 8; }))
    in.fail(kRule, "found counts of more than 8 bytes");
  NMB_TRY(in.status());
  out.level = static_cast<StatisticsLevel>(level);
  const std::span<const std::byte> kinds = in.take(rows, kRule);
  NMB_TRY(in.status());
  out.variables.resize(rows);
  for (VarId v = 0; v < rows; ++v) {
    VariableStatistics& statistics = out.variables[v];
    const auto kind = std::to_integer<std::uint8_t>(kinds[v]);
    const std::optional<Type> type = counted_type(metadata, v);
    if (kind > kWithRange || (kind != kNotCounted && !type)) {
      in.fail(kRule, "found a row of kind " + std::to_string(kind) + ", expected one that goes " +
                         "with the type of a variable");
      continue;
    }
    statistics.computed = kind != kNotCounted;
    statistics.has_range = kind == kWithRange;
    if (statistics.computed) statistics.type = *type;
  }
  for (std::size_t c = 0; c < std::size(kColumns); ++c) {
    std::uint64_t largest = 0;
    for (VariableStatistics& v : out.variables) {
      if (!in.ok()) break;
      v.*kColumns[c] = take_number(widths[c], &in);
      largest = std::max(largest, v.*kColumns[c]);
    }
    if (in.ok() && width_of(largest) != widths[c])
      in.fail(kRule, "found counts of " + std::to_string(widths[c]) +
                         " bytes, expected the fewest that hold the largest");
  }
  for (VariableStatistics& v : out.variables) {
    if (!in.ok()) break;
    check_row(&in, v);
    if (!v.has_range || !in.ok()) continue;
    take_value(v.type, &in, &v.minimum);
    take_value(v.type, &in, &v.maximum);
    const std::int64_t least = value_key(v.type, v.minimum.data());
    const std::int64_t greatest = value_key(v.type, v.maximum.data());
    const bool is_real = v.type == Type::kFloat || v.type == Type::kDouble;
    if (least > greatest ||
        (is_real && (is_nan_key(v.type, least) || is_nan_key(v.type, greatest))))
      in.fail(kRule, "found a minimum greater than the maximum, or NaN");
  }
  if (level == 2)
    for (VariableStatistics& v : out.variables)
      if (v.has_range && in.ok()) take_histogram(&in, &v);
  if (in.ok() && in.remaining() != 0)
    in.fail(kRule, "found " + std::to_string(in.remaining()) + " bytes behind the last item");
  NMB_TRY(in.status());
  return out;
}

Result<std::optional<BlockStatistics>> read_statistics(const ByteSource& file,
                                                       const BlockEntry& entry,
                                                       const Metadata& metadata) {
  std::optional<BlockStatistics> out;
  if (entry.statistics.absent()) return out;
  const auto in_file = [&](const Status& status, std::uint64_t offset) {
    return Status(status.code(), file.name(), offset, status.rule(),
                  "block \"" + entry.name + "\": statistics: " + status.message());
  };
  const Place& place = entry.statistics;
  if (place.length > file.size() || place.position > file.size() - place.length)
    return in_file(Status(Code::kDamaged, {}, 0, "R-FL-5", "found a place outside of the file"),
                   place.position);
  std::vector<std::byte> bytes(place.length);
  NMB_TRY(file.read_at(place.position, bytes));
  if (sum_of(bytes) != place.sum)
    return in_file(Status(Code::kDamaged, {}, 0, "R-SC-1", "found bytes with another sum"),
                   place.position);
  Status status;
  NMB_TRY(walk_sections(
      MemorySource(bytes, file.name()), {0, place.length, 0},
      [&](const SectionFrame& frame) {
        if (!status.ok() || frame.type != kSectionStatistics || frame.version != 1 ||
            frame.codec != 0)
          return;
        const std::uint64_t at = place.position + frame.payload - kSectionHeader;
        std::uint64_t state = 0;
        Result<BlockStatistics> decoded =
            out ? Status(Code::kDamaged, {}, 0, kRule, "found a second section, expected one")
                : decode_statistics(std::span(bytes).subspan(frame.payload, frame.length), metadata,
                                    &state);
        if (!decoded.ok())
          status = in_file(decoded.status(), at);
        else if (state != statistics_state(entry))
          status = in_file(
              Status(Code::kDamaged, {}, 0, "R-ST-2",
                     "found those of other definitions or values, expected the block's own"),
              at);
        else
          out = std::move(*decoded);
      },
      [&](std::uint64_t offset, const std::string& found, const std::string& expected) {
        if (status.ok())
          status = in_file(
              Status(Code::kDamaged, {}, 0, "R-SC-1", "found " + found + ", expected " + expected),
              place.position + offset);
      }));
  NMB_TRY(status);
  return out;
}

}  // namespace nmb
