// Statistics of a block's values (counts, range, histogram, ranges of parts, and a program's own
// functions of each variable; spec/tables.md, section 9.3), and the tags of a block (section 9.4).
// A file stores statistics and tags separately from definitions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

enum class StatisticsLevel : std::uint8_t {
  kNone,
  kBasic,      // counts of values, missing values and NaN; minimum, maximum
  kHistogram,  // everything in kBasic, and a histogram
  kParts,      // everything in kHistogram, and the range of each part of the values
};

// The value of a tag that a user gave to a block, or the result of a function of values. Text is
// UTF-8 without NUL.
using TagValue = std::variant<std::string, std::int64_t, std::uint64_t, double>;

struct Tag {
  std::string name;  // 1 to 65,535 bytes of UTF-8 without NUL
  TagValue value;
};

// Returns the value as text. A double is written with the fewest digits from which the same value
// can be read back, and always differs from the text of an integer.
NMB_EXPORT std::string tag_text(const TagValue& value);
// Returns whether two values have the same type and the same bits.
NMB_EXPORT bool is_same_tag(const TagValue& a, const TagValue& b);

// Counts of values in buckets of a logarithmic scale. Values are converted to binary64, rounding
// toward zero. Values whose first `bits` bits are equal share a bucket. The value -0 counts as 0.
struct Histogram {
  struct Bucket {
    std::uint32_t code = 0;   // the first `bits` bits of the values in the bucket, transformed so
                              // that greater values have greater codes
    std::uint64_t count = 0;  // at least 1
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  // The smallest and the greatest binary64 number that a bucket can hold.
  struct Range {
    double least, greatest;
  };
  unsigned bits = kMostBits;    // number of bits (1 to 24); the highest number with which the
                                // histogram has at most most_buckets() buckets
  std::vector<Bucket> buckets;  // in ascending order of codes; empty if no value was counted

  static constexpr unsigned kMostBits = 24;
  // Returns the maximum number of buckets in the histogram of a variable with `elements` elements.
  static constexpr std::uint64_t most_buckets(std::uint64_t elements) {
    const std::uint64_t sixteenth = elements / 16;
    return sixteenth < 16 ? 16 : sixteenth > 256 ? 256 : sixteenth;
  }
  NMB_EXPORT Range range(const Bucket& bucket) const;
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// The mean and the standard deviation of numbers. They are computed without rounding errors in
// between, so they do not depend on the order of the numbers.
struct Moments {
  double mean = 0;
  double deviation = 0;  // population standard deviation: the divisor is the count
  friend bool operator==(const Moments&, const Moments&) = default;
};

// The ranges of the parts of a variable's values. A search reads only the parts that can have
// values for which it looks. The values are divided into units: the values of a chunk, or runs of
// kUnitValues values in row-major order. A part consists of 2^shift units.
struct PartRanges {
  struct Part {
    // Minimum and maximum in external form: big-endian, then zeros. All bytes are 0 if all values
    // are missing or NaN.
    std::array<std::byte, 8> minimum{}, maximum{};
    std::uint64_t ordered = 0;  // number of values that are neither missing nor NaN
    friend bool operator==(const Part&, const Part&) = default;
  };
  static constexpr std::uint64_t kUnitValues = 4096, kMostParts = 1024;

  unsigned shift = 0;       // the smallest number with which there are at most kMostParts parts
  std::vector<Part> parts;  // empty, or at least 2 parts
  friend bool operator==(const PartRanges&, const PartRanges&) = default;
};

// Values of one variable that are neither missing nor NaN.
struct ValueBatch {
  Type type = Type::kByte;            // the classic type of the values
  std::span<const std::byte> values;  // numbers in the byte order of this machine, aligned
  std::uint64_t times = 1;            // how often each of the numbers occurs

  std::size_t count() const { return values.size() / type_size(type); }
  // Returns number i. 64-bit integers are rounded.
  NMB_EXPORT double number(std::size_t i) const;
};

// A program's own function of the values of a variable, for example their sum. An accumulator
// receives some values of one variable. Each object is used by one thread at a time, but several
// threads use several objects at the same time. The functions must not throw.
class ValueAccumulator {
 public:
  virtual ~ValueAccumulator() = default;
  // Returns a new accumulator of the same function and variable, which has received no values.
  virtual std::unique_ptr<ValueAccumulator> fresh() const = 0;
  // Receives values. The order of batches and of values in a batch is not specified.
  virtual void add(const ValueBatch& batch) = 0;
  // Receives all values that `other` has received. `other` was made by fresh() of an accumulator of
  // the same function and variable.
  virtual void merge(const ValueAccumulator& other) = 0;
  // Returns the result for all values received. It must not depend on their order, or the bytes of
  // the file depend on the number of threads. Text must be UTF-8 without NUL.
  virtual TagValue result() const = 0;
};

struct ValueFunction {
  // Name of the function: UTF-8 without NUL, not empty, and none of elements, missing, nan, min and
  // max.
  std::string name;
  // Makes an accumulator for a variable of a numeric type. Returns nullptr if the function is not
  // for this variable. May be called by several threads at the same time.
  std::function<std::unique_ptr<ValueAccumulator>(std::string_view variable, Type type)> make;
};

struct FunctionResult {
  std::string function;  // ValueFunction::name
  TagValue value;
  friend bool operator==(const FunctionResult& a, const FunctionResult& b) {
    return a.function == b.function && is_same_tag(a.value, b.value);
  }
};

// Statistics of one variable. Minimum, maximum and histogram ignore missing values and NaN. Numbers
// are compared as values of their type, and -0 is less than 0. The attributes _Unsigned,
// scale_factor and add_offset have no effect. Text has no minimum, maximum or histogram.
struct VariableStatistics {
  // If false, the statistics are unknown, and all other fields except `functions` are 0.
  bool computed = false;
  // The classic type of the values; it does not depend on their byte order in the file.
  Type type = Type::kByte;
  std::uint64_t elements = 0;  // total number
  std::uint64_t missing = 0;   // number of elements equal to the fill value or to missing_value
  std::uint64_t nans = 0;      // number of NaNs that do not count as missing
  bool has_range = false;      // true if the type is numeric and ordered() is at least 1
  // Minimum and maximum in external form: big-endian, type_size(type) bytes, then zeros.
  std::array<std::byte, 8> minimum{}, maximum{};
  // Empty unless the type is numeric and the level is kHistogram or kParts.
  Histogram histogram;
  // Empty unless the level is kParts and the variable has at least 2 parts and has_range is true.
  PartRanges parts{};
  // Results of functions, ordered by their names.
  std::vector<FunctionResult> functions{};
  // Mean and deviation of the values that are used for the minimum. compute_statistics() sets them
  // if all these values are finite. Files do not store them.
  std::optional<Moments> moments{};

  // Return the minimum and the maximum as numbers; 64-bit integers are rounded. Only if has_range.
  NMB_EXPORT double minimum_value() const;
  NMB_EXPORT double maximum_value() const;
  // Returns the number of elements that are used for minimum, maximum, histogram and moments.
  std::uint64_t ordered() const { return elements - missing - nans; }
  friend bool operator==(const VariableStatistics&, const VariableStatistics&) = default;
};

struct BlockStatistics {
  StatisticsLevel level = StatisticsLevel::kBasic;
  // Statistics of all variables of the block, in order of definition.
  std::vector<VariableStatistics> variables;

  // Returns the number of variables without known statistics.
  std::uint64_t not_computed() const {
    std::uint64_t count = 0;
    for (const VariableStatistics& variable : variables) count += !variable.computed;
    return count;
  }
};

struct TagCounts {
  std::uint64_t tags = 0, blocks = 0;  // `blocks` is the number of blocks with at least one tag
};

}  // namespace nmb
