// Statistics of a block's values (counts, range and histogram of each variable; spec/format.md,
// section 9.3), and its tags (section 9.4). A file stores both separately from definitions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

enum class StatisticsLevel : std::uint8_t {
  kNone,
  kBasic,      // counts of values, missing values and NaN; minimum, maximum
  kHistogram,  // the same and a histogram
};

// Counts of values in buckets of a logarithmic scale. Values are converted to binary64, rounding
// toward zero; those whose first `bits` bits are equal share a bucket. -0 counts as 0.
struct Histogram {
  struct Bucket {
    std::uint32_t code = 0;   // those bits, transformed so that codes ascend with values
    std::uint64_t count = 0;  // at least 1
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  // The smallest and the greatest binary64 in a bucket.
  struct Range {
    double least, greatest;
  };
  unsigned bits = kMostBits;    // 1 to 24: the highest number that keeps within most_buckets()
  std::vector<Bucket> buckets;  // ascending; empty if no value was counted

  static constexpr unsigned kMostBits = 24;
  // Maximum number of buckets in the histogram of a variable with `elements` elements.
  static constexpr std::uint64_t most_buckets(std::uint64_t elements) {
    const std::uint64_t sixteenth = elements / 16;
    return sixteenth < 16 ? 16 : sixteenth > 256 ? 256 : sixteenth;
  }
  NMB_EXPORT Range range(const Bucket& bucket) const;
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// Statistics of one variable. Minimum, maximum and histogram ignore missing values and NaN. Numbers
// compare by their type's order, -0 before 0; _Unsigned, scale_factor and add_offset have no
// effect. Text has no order.
struct VariableStatistics {
  bool computed = false;  // false: the statistics are unknown, and all other fields are 0
  // The classic type of the values, whatever their byte order in the file.
  Type type = Type::kByte;
  std::uint64_t elements = 0;  // total number
  std::uint64_t missing = 0;   // equal to the fill value or to missing_value
  std::uint64_t nans = 0;      // NaN that do not count as missing
  bool has_range = false;      // the type is numeric, and at least one value is ordered
  // External form: big-endian, type_size(type) bytes, then zeros.
  std::array<std::byte, 8> minimum{}, maximum{};
  Histogram histogram;  // numeric types, at level kHistogram

  // Number of elements considered for minimum, maximum and histogram.
  std::uint64_t ordered() const { return elements - missing - nans; }
  friend bool operator==(const VariableStatistics&, const VariableStatistics&) = default;
};

struct BlockStatistics {
  StatisticsLevel level = StatisticsLevel::kBasic;
  std::vector<VariableStatistics> variables;  // all variables of the block, in order

  // Number of variables without known statistics.
  std::uint64_t not_computed() const {
    std::uint64_t count = 0;
    for (const VariableStatistics& variable : variables) count += !variable.computed;
    return count;
  }
};

// The value of a tag, which a user gave to a block.
using TagValue = std::variant<std::string, std::int64_t, std::uint64_t, double>;

struct TagCounts {
  std::uint64_t tags = 0, blocks = 0;  // blocks: those with at least one tag
};

}  // namespace nmb
