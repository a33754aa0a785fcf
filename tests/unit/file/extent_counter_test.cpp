// Statistics counted from the bytes of an extent: values of each type, in any parts, in any order.
#include "values/statistics/extent_counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "model/values.h"
#include "table/statistics_row.h"
#include "values/statistics/histogram_builder.h"

namespace nmb::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::vector<std::byte> external(Type type, const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * type_size(type));
  (void)convert_to_external(memory_type_of<T>(), values.data(), values.size(), type, out.data());
  return out;
}

template <class T>
T value_of(Type type, const std::array<std::byte, 8>& bytes) {
  T out{};
  EXPECT_EQ(convert_from_external(type, bytes.data(), 1, memory_type_of<T>(), &out), 0u);
  return out;
}

// Definitions, and an extent for them.
struct Sample {
  Metadata metadata;
  ClassicLayout layout;
  std::uint64_t records = 0;
  std::vector<std::byte> extent;

  std::unique_ptr<ExtentCounter> counter(
      StatisticsLevel level = StatisticsLevel::kHistogram) const {
    auto made = ExtentCounter::make(metadata, layout, records, {.level = level});
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::move(*made);
  }
  BlockStatistics whole(StatisticsLevel level = StatisticsLevel::kHistogram) const {
    const auto all = counter(level);
    all->add(0, extent);
    auto statistics = all->finish();
    EXPECT_TRUE(statistics.ok()) << statistics.status().text();
    return *statistics;
  }
};

// One variable of these values.
template <class T>
Sample one(Type type, const std::vector<T>& values, const std::vector<T>& fill = {},
           const std::vector<T>& missing = {}) {
  Sample s;
  const DimId x = *s.metadata.def_dim("x", std::max<std::size_t>(values.size(), 1));
  const VarId v = *s.metadata.def_var("v", type, std::vector<DimId>{x});
  for (const auto& [name, stated] : {std::pair("_FillValue", &fill), {"missing_value", &missing}})
    if (!stated->empty()) (void)s.metadata.put_att(v, name, type, external(type, *stated)).ok();
  s.layout = *layout_classic(s.metadata, Kind::kCdf5);
  s.extent = external(type, values);
  s.extent.resize((s.extent.size() + 3) / 4 * 4);
  return s;
}

template <class T>
void expect_range(const VariableStatistics& v, T least, T greatest) {
  ASSERT_TRUE(v.has_range);
  EXPECT_EQ(value_of<T>(v.type, v.minimum), least);
  EXPECT_EQ(value_of<T>(v.type, v.maximum), greatest);
}

TEST(ExtentCounter, CountsEachType) {
  using I64 = std::numeric_limits<std::int64_t>;
  using U64 = std::numeric_limits<std::uint64_t>;
  expect_range<std::int64_t>(
      one<std::int64_t>(Type::kInt64, {5, I64::min(), I64::max(), 0}).whole().variables[0],
      I64::min(), I64::max());
  expect_range<std::uint64_t>(
      one<std::uint64_t>(Type::kUInt64, {5, U64::max(), 1}).whole().variables[0], 1, U64::max());
  expect_range<std::int8_t>(one<std::int8_t>(Type::kByte, {-128, 127, 0}).whole().variables[0],
                            -128, 127);
  expect_range<std::uint8_t>(one<std::uint8_t>(Type::kUByte, {200, 3}).whole().variables[0], 3,
                             200);
  expect_range<std::uint16_t>(one<std::uint16_t>(Type::kUShort, {40000, 3}).whole().variables[0], 3,
                              40000);
  expect_range<std::uint32_t>(
      one<std::uint32_t>(Type::kUInt, {4000000000u, 3}).whole().variables[0], 3, 4000000000u);
  expect_range<float>(one<float>(Type::kFloat, {-1.5f, 3e38f}).whole().variables[0], -1.5f, 3e38f);
}

TEST(ExtentCounter, CountsNanInfinityAndNegativeZero) {
  for (const Type type : {Type::kFloat, Type::kDouble}) {
    const VariableStatistics v =
        one<double>(type, {kNan, -kInfinity, 1, -kNan, kInfinity, 0}).whole().variables[0];
    EXPECT_EQ(v.elements, 6u);
    EXPECT_EQ(v.nans, 2u);
    EXPECT_EQ(v.missing, 0u);
    expect_range<double>(v, -kInfinity, kInfinity);
    std::uint64_t counted = 0;
    for (const auto& bucket : v.histogram.buckets) counted += bucket.count;
    EXPECT_EQ(counted, 4u);
    EXPECT_EQ(v.histogram.range(v.histogram.buckets.back()).greatest, kInfinity);
    EXPECT_EQ(v.histogram.range(v.histogram.buckets.front()).least, -kInfinity);

    // Whichever comes first.
    for (const std::vector<double>& zeros :
         {std::vector<double>{0.0, -0.0}, std::vector<double>{-0.0, 0.0}}) {
      const VariableStatistics z = one<double>(type, zeros).whole().variables[0];
      EXPECT_TRUE(std::signbit(value_of<double>(type, z.minimum)));
      EXPECT_FALSE(std::signbit(value_of<double>(type, z.maximum)));
      EXPECT_EQ(z.histogram.buckets.size(), 1u);
    }
    const VariableStatistics nothing = one<double>(type, {kNan, kNan}).whole().variables[0];
    EXPECT_EQ(nothing.nans, 2u);
    EXPECT_FALSE(nothing.has_range);
  }
}

TEST(ExtentCounter, TellsMissingValues) {
  // The default of the type, but of one byte.
  EXPECT_EQ(one<std::int16_t>(Type::kShort, {-32767, 1}).whole().variables[0].missing, 1u);
  EXPECT_EQ(one<std::int8_t>(Type::kByte, {-127, 1}).whole().variables[0].missing, 0u);
  EXPECT_EQ(one<std::uint8_t>(Type::kUByte, {255, 1}).whole().variables[0].missing, 0u);
  // The stated ones.
  EXPECT_EQ(one<std::int8_t>(Type::kByte, {-127, 1}, {1}).whole().variables[0].missing, 1u);
  EXPECT_EQ(one<int>(Type::kInt, {1, 2, 3, -2147483647}, {1}, {2}).whole().variables[0].missing,
            2u);
  // An attribute with several values states no missing value.
  EXPECT_EQ(one<int>(Type::kInt, {1, 2, 3}, {}, {2, 3}).whole().variables[0].missing, 0u);
  // 0 and -0; NaN; both.
  EXPECT_EQ(one<double>(Type::kDouble, {0, -0.0, 1}, {0}).whole().variables[0].missing, 2u);
  EXPECT_EQ(one<double>(Type::kDouble, {0, -0.0, 1, 5}, {-0.0}, {5}).whole().variables[0].missing,
            3u);
  const VariableStatistics nan =
      one<float>(Type::kFloat, {0, std::nanf("1"), 1}, {std::nanf("2")}).whole().variables[0];
  EXPECT_EQ(nan.missing, 1u);
  EXPECT_EQ(nan.nans, 0u);
  const VariableStatistics all = one<int>(Type::kInt, {7, 7, 7}, {7}).whole().variables[0];
  EXPECT_EQ(all.missing, 3u);
  EXPECT_FALSE(all.has_range);
  EXPECT_TRUE(all.histogram.buckets.empty());
}

TEST(ExtentCounter, CountsTextWithoutRange) {
  const VariableStatistics v = one<char>(Type::kChar, {'a', '-', 'b'}, {'-'}).whole().variables[0];
  EXPECT_TRUE(v.computed);
  EXPECT_EQ(v.elements, 3u);
  EXPECT_EQ(v.missing, 1u);
  EXPECT_FALSE(v.has_range);
}

TEST(ExtentCounter, CountsNothing) {
  Sample s;
  const DimId t = *s.metadata.def_dim("t", kUnlimited);
  (void)*s.metadata.def_var("v", Type::kInt, std::vector<DimId>{t});
  s.layout = *layout_classic(s.metadata, Kind::kCdf5);
  const VariableStatistics v = s.whole().variables[0];
  EXPECT_TRUE(v.computed);
  EXPECT_EQ(v.elements, 0u);
  EXPECT_FALSE(v.has_range);
}

// Variables of many types, fixed and of records, with begins at every multiple of 4 and, of one
// short record variable alone, of 1.
Sample many(unsigned seed, bool alone) {
  std::mt19937 random(seed);
  Sample s;
  const DimId t = *s.metadata.def_dim("t", kUnlimited);
  const DimId x = *s.metadata.def_dim("x", 7 + seed % 3);
  const Type types[] = {Type::kShort, Type::kDouble, Type::kByte,  Type::kInt64, Type::kFloat,
                        Type::kChar,  Type::kUInt64, Type::kUByte, Type::kInt,   Type::kUShort};
  for (std::size_t i = 0; i < std::size(types); ++i)
    (void)*s.metadata.def_var("f" + std::to_string(i), types[i], std::vector<DimId>{x});
  if (alone)
    (void)*s.metadata.def_var("r", Type::kShort, std::vector<DimId>{t, x});
  else
    for (std::size_t i = 0; i < std::size(types); ++i)
      (void)*s.metadata.def_var("r" + std::to_string(i), types[i], std::vector<DimId>{t, x});
  s.records = s.layout.records = 5;
  s.layout = *layout_classic(s.metadata, Kind::kCdf5);
  s.extent.resize(s.layout.end(5) - s.layout.header_length);
  for (std::byte& b : s.extent) b = static_cast<std::byte>(random());
  return s;
}

TEST(ExtentCounter, IsTheSameForAnyParts) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Sample s = many(seed, seed % 2 == 1);
    const std::vector<VariableStatistics> expected = s.whole().variables;
    std::mt19937 random(seed);
    for (std::size_t width = 1; width < 40; ++width) {
      // Parts of this width from any first offset, in any order, some of them by another thread.
      std::vector<std::size_t> begins{0};
      for (std::size_t at = 1 + random() % width; at < s.extent.size(); at += width)
        begins.push_back(at);
      std::vector<std::pair<std::size_t, std::size_t>> parts;
      for (std::size_t i = 0; i < begins.size(); ++i)
        parts.push_back({begins[i], i + 1 < begins.size() ? begins[i + 1] : s.extent.size()});
      std::shuffle(parts.begin(), parts.end(), random);
      const auto counter = s.counter();
      const auto add = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
          counter->add(parts[i].first, std::span(s.extent).subspan(
                                           parts[i].first, parts[i].second - parts[i].first));
      };
      std::thread other([&] { add(0, parts.size() / 2); });
      add(parts.size() / 2, parts.size());
      other.join();
      const auto statistics = counter->finish();
      ASSERT_TRUE(statistics.ok()) << statistics.status().text();
      ASSERT_EQ(statistics->variables, expected) << "seed " << seed << ", width " << width;
    }
  }
}

TEST(ExtentCounter, CountsHolesAsFillValues) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Sample s = many(seed, seed % 2 == 1);
    const FillPattern fill(s.metadata, s.layout);
    std::mt19937 random(seed);
    for (int turn = 0; turn < 60; ++turn) {
      std::uint64_t from = random() % s.extent.size(), to = random() % s.extent.size();
      if (from > to) std::swap(from, to);
      Sample filled = s;
      fill.fill(from, std::span(filled.extent).subspan(from, to - from));
      const auto counter = s.counter();
      counter->add(to, std::span(s.extent).subspan(to));
      counter->add_hole(from, to);
      counter->add(0, std::span(s.extent).first(from));
      const auto statistics = counter->finish();
      ASSERT_TRUE(statistics.ok()) << statistics.status().text();
      ASSERT_EQ(statistics->variables, filled.whole().variables) << from << " to " << to;
    }
  }
}

TEST(ExtentCounter, CountsHugeHolesAtOnce) {
  Sample s;
  const DimId t = *s.metadata.def_dim("t", kUnlimited);
  const DimId x = *s.metadata.def_dim("x", 1 << 10);
  (void)*s.metadata.def_var("a", Type::kInt, std::vector<DimId>{t, x});
  (void)*s.metadata.def_var("b", Type::kUByte, std::vector<DimId>{t, x});
  s.records = std::uint64_t{1} << 40;
  s.layout = *layout_classic(s.metadata, Kind::kCdf5);
  const auto counter = s.counter();
  counter->add_hole(0, s.layout.end(s.records) - s.layout.header_length);
  const auto statistics = counter->finish();
  ASSERT_TRUE(statistics.ok()) << statistics.status().text();
  EXPECT_EQ(statistics->variables[0].missing, std::uint64_t{1} << 50);
  expect_range<std::uint8_t>(statistics->variables[1], 255, 255);
  EXPECT_EQ(statistics->variables[1].histogram.buckets[0].count, std::uint64_t{1} << 50);
}

TEST(ExtentCounter, TellsOfValuesThatWereNotGiven) {
  const Sample s = one<double>(Type::kDouble, {1, 2, 3});
  const auto counter = s.counter();
  counter->add(0, std::span(s.extent).first(20));
  EXPECT_EQ(counter->finish().status().code(), Code::kDamaged);
}

// Straight from the specification.
Histogram expected_histogram(const std::vector<double>& values, std::size_t elements) {
  std::map<std::uint32_t, std::uint64_t> codes;
  for (double value : values) {
    if (value == 0) value = 0.0;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t ordered = bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
    ++codes[static_cast<std::uint32_t>(ordered >> 40)];
  }
  Histogram out;
  while (codes.size() > Histogram::most_buckets(elements)) {
    std::map<std::uint32_t, std::uint64_t> coarser;
    for (const auto& [code, count] : codes) coarser[code >> 1] += count;
    codes = std::move(coarser);
    --out.bits;
  }
  for (const auto& [code, count] : codes) out.buckets.push_back({code, count});
  return out;
}

TEST(ExtentCounter, MakesTheHistogramOfTheSpecification) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int turn = 0; turn < 30; ++turn) {
    std::vector<double> values(1 + random() % 9000);
    for (double& value : values) {
      value = normal(random);
      if (turn % 3 == 1) value = 280 + 10 * value;
      if (turn % 3 == 2) value = std::exp(200 * value);
      if (random() % 50 == 0) value = 0;
    }
    EXPECT_EQ(one<double>(Type::kDouble, values).whole().variables[0].histogram,
              expected_histogram(values, values.size()));
  }
  // Integers past 2^53 are cut off.
  const std::vector<std::uint64_t> large{(std::uint64_t{1} << 60) - 1, ~std::uint64_t{0}};
  const Histogram histogram = one(Type::kUInt64, large).whole().variables[0].histogram;
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_LT(histogram.range(histogram.buckets[i]).greatest, std::ldexp(1.0, i == 0 ? 60 : 64));
}

// Calls take(first, count) for the elements of each part.
template <class Take>
void for_each_part(std::uint64_t elements, unsigned shift, Take take) {
  const std::uint64_t length = PartRanges::kUnitValues << shift;
  for (std::uint64_t at = 0; at < elements; at += length) take(at, std::min(length, elements - at));
}

// Adds the extent in parts of random lengths, in random order; whole windows of zeros as holes.
BlockStatistics in_random_order(const Sample& s, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ByteRange> ranges;
  for (std::uint64_t at = 0; at < s.extent.size();) {
    const std::uint64_t end = std::min<std::uint64_t>(s.extent.size(), at + 1 + random() % 30000);
    ranges.push_back({at, end});
    at = end;
  }
  std::ranges::shuffle(ranges, random);
  const auto counter = s.counter(StatisticsLevel::kParts);
  for (const ByteRange& range : ranges)
    counter->add(range.begin, std::span(s.extent).subspan(range.begin, range.length()));
  return *counter->finish();
}

TEST(ExtentCounter, RangesOfPartsAreThoseOfTheirValues) {
  std::mt19937 random(3);
  for (const std::size_t count : {4096u, 4097u, 9000u, 4'194'304u, 4'194'305u}) {
    std::vector<float> values(count);
    for (float& value : values)
      value = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
    for (std::size_t i = 0; i < count; i += 7) values[i] = static_cast<float>(kNan);
    std::fill_n(values.begin(), 4096, -999.0f);
    const Sample s = one<float>(Type::kFloat, values, {-999.0f});
    const VariableStatistics v = s.whole(StatisticsLevel::kParts).variables[0];
    EXPECT_EQ(in_random_order(s, 1).variables[0], v);
    if (count < 4097) {
      EXPECT_TRUE(v.parts.parts.empty());
      continue;
    }
    EXPECT_EQ(v.parts.shift, count > 4'194'304 ? 1u : 0u);
    std::size_t part = 0;
    for_each_part(count, v.parts.shift, [&](std::uint64_t first, std::uint64_t length) {
      const Sample alone = one<float>(Type::kFloat,
                                      {values.begin() + static_cast<long>(first),
                                       values.begin() + static_cast<long>(first + length)},
                                      {-999.0f});
      const VariableStatistics expected = alone.whole(StatisticsLevel::kBasic).variables[0];
      const PartRanges::Part& found = v.parts.parts.at(part++);
      EXPECT_EQ(found.ordered, expected.ordered());
      EXPECT_EQ(found.minimum, expected.minimum);
      EXPECT_EQ(found.maximum, expected.maximum);
    });
    EXPECT_EQ(part, v.parts.parts.size());
  }
}

// Each record has a part of each variable's rows.
TEST(ExtentCounter, PartsOfRecordVariablesCrossRecords) {
  Sample s;
  const DimId t = *s.metadata.def_dim("t", kUnlimited);
  const DimId x = *s.metadata.def_dim("x", 700);
  (void)*s.metadata.def_var("a", Type::kInt, std::vector<DimId>{t, x});
  (void)*s.metadata.def_var("b", Type::kByte, std::vector<DimId>{t, x});
  (void)*s.metadata.def_var("few", Type::kShort, std::vector<DimId>{t});
  s.records = 20;
  s.layout = *layout_classic(s.metadata, Kind::kCdf5);
  std::mt19937 random(5);
  s.extent.resize(s.layout.record_size * s.records);
  for (std::byte& byte : s.extent) byte = static_cast<std::byte>(random() % 128);
  const BlockStatistics whole = s.whole(StatisticsLevel::kParts);
  EXPECT_EQ(in_random_order(s, 2).variables, whole.variables);
  for (const VarId v : {VarId{0}, VarId{1}}) {
    ASSERT_EQ(whole.variables[v].parts.parts.size(), 4u);
    std::uint64_t ordered = 0;
    std::array<std::byte, 8> least = whole.variables[v].parts.parts[0].minimum;
    for (const auto& part : whole.variables[v].parts.parts) {
      ordered += part.ordered;
      least = std::min(least, part.minimum);  // no value is negative
    }
    EXPECT_EQ(ordered, 14000u);
    EXPECT_EQ(least, whole.variables[v].minimum);
  }
  EXPECT_TRUE(whole.variables[2].parts.parts.empty());
  // The elements of the last part, which begins in record 17.
  std::array<std::byte, 8> least{};
  least.fill(std::byte{0xff});
  for (std::uint64_t element = 3 * 4096; element < 14000; ++element) {
    const std::uint64_t at = element / 700 * s.layout.record_size + element % 700 * 4;
    std::array<std::byte, 8> value{};
    std::copy_n(s.extent.begin() + static_cast<long>(at), 4, value.begin());
    least = std::min(least, value);
  }
  EXPECT_EQ(whole.variables[0].parts.parts[3].minimum, least);
  // Records in a hole count as fill values, which are missing for ints and not for bytes.
  const auto counter = s.counter(StatisticsLevel::kParts);
  const std::uint64_t hole = 3 * s.layout.record_size + 100, end = 19 * s.layout.record_size - 100;
  counter->add(0, std::span(s.extent).first(hole));
  counter->add_hole(hole, end);
  counter->add(end, std::span(s.extent).subspan(end));
  Sample filled = s;
  for (std::uint64_t at = hole; at < end; ++at) {
    const std::uint64_t in_record = at % s.layout.record_size;
    const std::vector<std::byte> fill = fill_value(s.metadata, in_record < 2800   ? 0
                                                               : in_record < 3500 ? 1
                                                                                  : 2);
    const std::uint64_t base = in_record < 2800 ? 0 : in_record < 3500 ? 2800 : 3500;
    filled.extent[at] = fill[(in_record - base) % fill.size()];
  }
  EXPECT_EQ((*counter->finish()).variables, filled.whole(StatisticsLevel::kParts).variables);
}

// Sums values, and counts them.
class Sum final : public ValueAccumulator {
 public:
  std::unique_ptr<ValueAccumulator> fresh() const override { return std::make_unique<Sum>(); }
  void add(const ValueBatch& batch) override {
    for (std::size_t i = 0; i < batch.count(); ++i)
      sum_ += static_cast<std::int64_t>(batch.number(i)) * static_cast<std::int64_t>(batch.times);
  }
  void merge(const ValueAccumulator& other) override {
    sum_ += static_cast<const Sum&>(other).sum_;
  }
  TagValue result() const override { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

TEST(ExtentCounter, FunctionsReceiveEachOrderedValueOnce) {
  Sample s;
  const DimId t = *s.metadata.def_dim("t", kUnlimited);
  const DimId x = *s.metadata.def_dim("x", 10000);
  (void)*s.metadata.def_var("fixed", Type::kDouble, std::vector<DimId>{x});
  (void)*s.metadata.def_var("records", Type::kShort, std::vector<DimId>{t, x});
  (void)*s.metadata.def_var("text", Type::kChar, std::vector<DimId>{x});
  (void)*s.metadata.def_var("bytes", Type::kByte, std::vector<DimId>{t, x});
  s.records = 3;
  s.layout = *layout_classic(s.metadata, Kind::kCdf5);
  std::vector<double> fixed(10000);
  std::iota(fixed.begin(), fixed.end(), -100);
  fixed[7] = kNan;                    // -93
  fixed[8] = 9.9692099683868690e+36;  // -92, the default fill value
  s.extent = external(Type::kDouble, fixed);
  s.extent.resize(s.layout.record_begin - s.layout.header_length + 3 * s.layout.record_size,
                  std::byte{1});
  const std::vector<ValueFunction> functions{
      {"sum", [](std::string_view, Type) { return std::make_unique<Sum>(); }},
      {"not of bytes", [](std::string_view name, Type) {
         return name == "bytes" ? nullptr : std::make_unique<Sum>();
       }}};
  CountRequest request;
  request.functions = functions;
  auto counter = *ExtentCounter::make(s.metadata, s.layout, s.records, request);
  const std::uint64_t middle = s.extent.size() - s.layout.record_size - 5;
  counter->add(0, std::span(s.extent).first(middle));
  counter->add_hole(middle, s.extent.size());
  const BlockStatistics found = *counter->finish();
  const std::int64_t sum = (9899 - 100) * 10000 / 2 + 93 + 92;
  EXPECT_EQ(found.variables[0].functions,
            (std::vector<FunctionResult>{{"not of bytes", TagValue(sum)}, {"sum", TagValue(sum)}}));
  // Two records of 0x0101; the third is missing.
  EXPECT_EQ(found.variables[1].functions[0].value, TagValue(std::int64_t{2 * 10000 * 0x0101}));
  EXPECT_TRUE(found.variables[2].functions.empty());
  // The last 5 bytes of the second record, and the third, are the fill value -127.
  EXPECT_EQ(found.variables[3].functions,
            (std::vector<FunctionResult>{
                {"sum", TagValue(std::int64_t{10000 + 9995 - 127 * (10000 + 5)})}}));
}

TEST(ExtentCounter, StatisticsComeBackFromTheirRows) {
  for (const StatisticsLevel level :
       {StatisticsLevel::kBasic, StatisticsLevel::kHistogram, StatisticsLevel::kParts}) {
    const Sample s = many(3, false);
    std::mt19937 random(5);
    for (VariableStatistics statistics : s.whole(level).variables) {
      ASSERT_TRUE(statistics.computed);
      if (statistics.has_range && level == StatisticsLevel::kParts)
        statistics.parts = {3, {{statistics.minimum, statistics.maximum, 300}, {{}, {}, 0}}};
      statistics.functions = {{"a", TagValue("text")}, {"b", TagValue(-0.5)}};
      TableRows rows;
      add_statistics_rows("v", 7, statistics, &rows);
      VariableStatistics decoded;
      for (std::size_t i = 0; i < rows.count(); ++i)
        ASSERT_TRUE(add_statistics_row(rows[i], &decoded).ok()) << rows[i].name;
      EXPECT_EQ(decoded, statistics);
      for (std::size_t i = 0; i < rows.count(); ++i) {
        std::vector<std::byte> bytes(rows[i].bytes.begin(), rows[i].bytes.end());
        TableRow bad = rows[i];
        for (std::size_t cut = 1; cut < bytes.size() && bad.name.size() < 3; ++cut) {
          bad.bytes = std::span(bytes).first(cut);
          ASSERT_EQ(check_statistics_row(bad).rule(), bad.name == "v" ? "R-ST-1" : "R-ST-4") << cut;
        }
        // Whatever a byte is: no crash, and no more memory than there are bytes.
        bad.bytes = bytes;
        for (std::byte& byte : bytes) {
          const std::byte before =
              std::exchange(byte, byte ^ static_cast<std::byte>(1 + random() % 255));
          (void)check_statistics_row(bad).ok();
          byte = before;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nmb::test
