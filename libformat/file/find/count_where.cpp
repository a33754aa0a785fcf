#include "find/count_where.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "find/comparison.h"
#include "model/values.h"
#include "values/statistics/count_block.h"

namespace nmb {

namespace {

bool holds(const ValueCondition& condition, long double value) {
  return compare(condition.comparison, value, condition.number);
}

// Returns the condition for values of a type.
ValueCondition condition_for(Type type, ValueCondition condition) {
  if (type == Type::kFloat && !condition.is_integer)
    condition.number = rounded_to_float(condition.number);
  return condition;
}

struct Counts {
  std::uint64_t least = 0, most = 0;
};

// Returns true if all numbers from `minimum` to `maximum` match, false if none does, and nullopt
// otherwise.
std::optional<bool> matches_in_range(const ValueCondition& condition, long double minimum,
                                     long double maximum) {
  const bool low = holds(condition, minimum), high = holds(condition, maximum);
  const bool is_equality =
      condition.comparison == Comparison::kEqual || condition.comparison == Comparison::kNotEqual;
  const bool is_inside =
      minimum < maximum && minimum <= condition.number && condition.number <= maximum;
  return low != high || (is_equality && is_inside) ? std::nullopt : std::optional(low);
}

// Returns how many of `count` values with this minimum and maximum can match.
Counts counts_in_range(const ValueCondition& condition, long double minimum, long double maximum,
                       std::uint64_t count) {
  if (count == 0) return {};
  if (const auto all = matches_in_range(condition, minimum, maximum))
    return *all ? Counts{count, count} : Counts{};
  // The minimum and the maximum are two different values.
  const bool low = holds(condition, minimum), high = holds(condition, maximum);
  return {std::uint64_t{low} + std::uint64_t{high}, count - !low - !high};
}

// Returns the bounds that follow from a histogram. The ends of a bucket need not be values.
Counts counts_in_histogram(const VariableStatistics& statistics, const ValueCondition& condition) {
  Counts sum;
  for (const Histogram::Bucket& bucket : statistics.histogram.buckets) {
    const Histogram::Range range = statistics.histogram.range(bucket);
    const auto all = matches_in_range(condition, range.least, range.greatest);
    if (all == true) sum.least += bucket.count;
    if (all != false) sum.most += bucket.count;
  }
  return sum;
}

// Returns whether values may have been rounded toward zero before they were counted in buckets.
bool are_rounded(const VariableStatistics& v) {
  constexpr long double kExact = 1ULL << 53;
  return (v.type == Type::kInt64 || v.type == Type::kUInt64) &&
         (number_of(v.type, v.minimum.data()) < -kExact ||
          number_of(v.type, v.maximum.data()) > kExact);
}

// The numbers of a type for which a condition holds: the numbers from `least` to `greatest`, of
// which there are none if `least` is greater. If `is_outside` is true, the condition holds for all
// other numbers instead.
template <class T>
struct Matches {
  T least = std::numeric_limits<T>::lowest(), greatest = std::numeric_limits<T>::max();
  bool is_outside = false;
};

// The integers from `least` to `greatest`.
template <class T>
Matches<T> integers(long double least, long double greatest) {
  constexpr auto kLeast = static_cast<long double>(std::numeric_limits<T>::lowest());
  constexpr auto kGreatest = static_cast<long double>(std::numeric_limits<T>::max());
  if (least > greatest || least > kGreatest || greatest < kLeast) return {1, 0};
  return {static_cast<T>(std::max(least, kLeast)), static_cast<T>(std::min(greatest, kGreatest))};
}

template <class T>
Matches<T> matches_of(const ValueCondition& condition) {
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  const long double number = condition.number;
  // `up`: the smallest number of the type that is at least `number`. `down`: the largest number of
  // the type that is at most `number`.
  long double up, down, before, after;
  if constexpr (std::is_floating_point_v<T>) {
    const auto nearest = static_cast<T>(number);
    const T low = std::nextafter(nearest, -std::numeric_limits<T>::infinity());
    const T high = std::nextafter(nearest, std::numeric_limits<T>::infinity());
    up = nearest >= number ? nearest : high;
    down = nearest <= number ? nearest : low;
    before = nearest >= number ? low : nearest;
    after = nearest <= number ? high : nearest;
  } else {
    up = std::ceil(number), down = std::floor(number);
    before = up - 1, after = down + 1;
  }
  long double least = -kInfinity, greatest = kInfinity;
  switch (condition.comparison) {
    case Comparison::kEqual:
    case Comparison::kNotEqual:
      least = up, greatest = down;
      break;
    case Comparison::kLess:
      greatest = before;
      break;
    case Comparison::kLessEqual:
      greatest = down;
      break;
    case Comparison::kMore:
      least = after;
      break;
    case Comparison::kMoreEqual:
      least = up;
  }
  Matches<T> matches;
  if constexpr (std::is_floating_point_v<T>)
    matches = {static_cast<T>(least), static_cast<T>(greatest)};
  else
    matches = integers<T>(least, greatest);
  matches.is_outside = condition.comparison == Comparison::kNotEqual;
  return matches;
}

// Counts values of one type as they are read.
template <class T>
class MatchCounter final : public ValueAccumulator {
 public:
  explicit MatchCounter(const Matches<T>& matches) : matches_(matches) {}
  std::unique_ptr<ValueAccumulator> fresh() const override {
    return std::make_unique<MatchCounter>(matches_);
  }
  void add(const ValueBatch& batch) override {
    const auto* const values = reinterpret_cast<const T*>(batch.values.data());
    const T least = matches_.least, greatest = matches_.greatest;
    const std::size_t all = batch.count();
    std::size_t inside = 0;
    for (std::size_t i = 0; i < all; ++i)
      inside += static_cast<std::size_t>((values[i] >= least) & (values[i] <= greatest));
    count_ += (matches_.is_outside ? all - inside : inside) * batch.times;
  }
  void merge(const ValueAccumulator& other) override {
    count_ += static_cast<const MatchCounter&>(other).count_;
  }
  TagValue result() const override { return count_; }

 private:
  const Matches<T> matches_;
  std::uint64_t count_ = 0;
};

std::unique_ptr<ValueAccumulator> match_counter(Type type, const ValueCondition& condition) {
  const auto make = [&]<class T>(T) -> std::unique_ptr<ValueAccumulator> {
    return std::make_unique<MatchCounter<T>>(matches_of<T>(condition));
  };
  switch (type) {
    case Type::kByte:
      return make(std::int8_t{});
    case Type::kShort:
      return make(std::int16_t{});
    case Type::kInt:
      return make(std::int32_t{});
    case Type::kFloat:
      return make(float{});
    case Type::kDouble:
      return make(double{});
    case Type::kUShort:
      return make(std::uint16_t{});
    case Type::kUInt:
      return make(std::uint32_t{});
    case Type::kInt64:
      return make(std::int64_t{});
    case Type::kUInt64:
      return make(std::uint64_t{});
    case Type::kUByte:
    case Type::kChar:
      break;
  }
  return make(std::uint8_t{});
}

}  // namespace

long double number_of(Type type, const std::byte* external) {
  const auto as = [&]<class T>(T value) {
    (void)convert_from_external(type, external, 1, memory_type_of<T>(), &value);
    return static_cast<long double>(value);
  };
  if (type == Type::kFloat || type == Type::kDouble) return as(double{});
  return type == Type::kUInt64 ? as(std::uint64_t{}) : as(std::int64_t{});
}

long double rounded_to_float(long double number) {
  return std::fabs(number) <= std::numeric_limits<float>::max()
             ? static_cast<long double>(static_cast<float>(number))
             : number;
}

FindNumber count_bounds(const VariableStatistics& v, const ValueCondition& wanted) {
  if (!v.has_range) return {};
  const ValueCondition condition = condition_for(v.type, wanted);
  Counts counts = counts_in_range(condition, number_of(v.type, v.minimum.data()),
                                  number_of(v.type, v.maximum.data()), v.ordered());
  if (!v.histogram.buckets.empty() && !are_rounded(v)) {
    const Counts here = counts_in_histogram(v, condition);
    counts.least = std::max(counts.least, here.least);
    counts.most = std::min(counts.most, here.most);
  }
  return {static_cast<long double>(counts.least), static_cast<long double>(counts.most)};
}

Result<std::optional<std::uint64_t>> count_where(const Dataset& dataset, VarId variable,
                                                 const ValueCondition& wanted,
                                                 const PartRanges* parts, unsigned threads) {
  const std::optional<Type> type = counted_type(dataset.metadata, variable);
  if (!type) return std::optional<std::uint64_t>();
  const ValueCondition condition = condition_for(*type, wanted);
  const ValueFunction function{
      "count", [&](std::string_view, Type) { return match_counter(*type, condition); }};
  CountRequest request;
  request.functions = {&function, 1};
  request.only = variable;
  std::uint64_t count = 0;
  if (parts) {
    for (const PartRanges::Part& part : parts->parts) {
      const Counts counts = counts_in_range(condition, number_of(*type, part.minimum.data()),
                                            number_of(*type, part.maximum.data()), part.ordered);
      const bool is_decided = counts.least == counts.most;
      request.wanted.push_back(!is_decided);
      if (is_decided) count += counts.least;
    }
    if (std::ranges::none_of(request.wanted, std::identity())) return std::optional(count);
  }
  NMB_ASSIGN(const BlockStatistics statistics, count_block(dataset, {}, request, threads));
  const VariableStatistics& found = statistics.variables[variable];
  if (!found.computed || found.functions.empty()) return std::optional<std::uint64_t>();
  return std::optional(count + std::get<std::uint64_t>(found.functions[0].value));
}

}  // namespace nmb
