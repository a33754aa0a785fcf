// Counts values for which a condition holds (see find/count_where.h).
#include "find/count_where.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "nmb/values.h"
#include "values/statistics/count_block.h"

namespace nmb {

namespace {

bool holds(const ValueCondition& condition, long double value) {
  switch (condition.comparison) {
    case Comparison::kEqual:
      return value == condition.number;
    case Comparison::kNotEqual:
      return value != condition.number;
    case Comparison::kLess:
      return value < condition.number;
    case Comparison::kLessEqual:
      return value <= condition.number;
    case Comparison::kMore:
      return value > condition.number;
    case Comparison::kMoreEqual:
      break;
  }
  return value >= condition.number;
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

// Returns whether all or none of the numbers from `minimum` to `maximum` match, or nullopt if some
// match and some do not.
std::optional<bool> matches_in_range(const ValueCondition& condition, long double minimum,
                                     long double maximum) {
  const bool low = holds(condition, minimum), high = holds(condition, maximum);
  const bool is_equality =
      condition.comparison == Comparison::kEqual || condition.comparison == Comparison::kNotEqual;
  const bool is_inside =
      minimum < maximum && minimum <= condition.number && condition.number <= maximum;
  return low != high || (is_equality && is_inside) ? std::nullopt : std::optional(low);
}

// Returns how many of `count` values can match if their minimum and maximum are as given.
Counts counts_in_range(const ValueCondition& condition, long double minimum, long double maximum,
                       std::uint64_t count) {
  if (count == 0) return {};
  if (const auto all = matches_in_range(condition, minimum, maximum))
    return *all ? Counts{count, count} : Counts{};
  // The minimum and the maximum are two different values.
  const bool low = holds(condition, minimum), high = holds(condition, maximum);
  return {std::uint64_t{low} + std::uint64_t{high}, count - !low - !high};
}

// Returns the bounds that a histogram states. The ends of a bucket need not be values.
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

// A bucket states the range of its values rounded toward zero.
bool are_rounded(const VariableStatistics& v) {
  constexpr long double kExact = 1ULL << 53;
  return (v.type == Type::kInt64 || v.type == Type::kUInt64) &&
         (number_of(v.type, v.minimum.data()) < -kExact ||
          number_of(v.type, v.maximum.data()) > kExact);
}

// Counts values as they are read.
class MatchCounter final : public ValueAccumulator {
 public:
  explicit MatchCounter(const ValueCondition& condition) : condition_(condition) {}
  std::unique_ptr<ValueAccumulator> fresh() const override {
    return std::make_unique<MatchCounter>(condition_);
  }
  void add(const ValueBatch& batch) override {
    switch (batch.type) {
      case Type::kByte:
        return add_as<std::int8_t>(batch);
      case Type::kShort:
        return add_as<std::int16_t>(batch);
      case Type::kInt:
        return add_as<std::int32_t>(batch);
      case Type::kFloat:
        return add_as<float>(batch);
      case Type::kDouble:
        return add_as<double>(batch);
      case Type::kUShort:
        return add_as<std::uint16_t>(batch);
      case Type::kUInt:
        return add_as<std::uint32_t>(batch);
      case Type::kInt64:
        return add_as<std::int64_t>(batch);
      case Type::kUInt64:
        return add_as<std::uint64_t>(batch);
      case Type::kUByte:
      case Type::kChar:
        break;
    }
    add_as<std::uint8_t>(batch);
  }
  void merge(const ValueAccumulator& other) override {
    count_ += static_cast<const MatchCounter&>(other).count_;
  }
  TagValue result() const override { return count_; }

 private:
  template <class T>
  void add_as(const ValueBatch& batch) {
    const auto* const values = reinterpret_cast<const T*>(batch.values.data());
    std::uint64_t matches = 0;
    for (std::size_t i = 0; i < batch.count(); ++i)
      matches += holds(condition_, static_cast<long double>(values[i]));
    count_ += matches * batch.times;
  }

  const ValueCondition condition_;
  std::uint64_t count_ = 0;
};

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
      "count", [&](const Metadata&, VarId) { return std::make_unique<MatchCounter>(condition); }};
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
