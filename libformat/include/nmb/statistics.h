// What a file keeps of its blocks besides their definitions: statistics of values (counts, range
// and histogram of each variable; spec/format.md, section 9.3), and tags (section 9.4).
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
  kBasic,      // counts, minimum and maximum
  kHistogram,  // the same, and a histogram
};

// Values counted in buckets of a logarithmic scale. Values whose binary64 forms, rounded toward
// zero, begin with the same `bits` bits share a bucket; -0 counts as 0.
struct Histogram {
  struct Bucket {
    std::uint32_t code = 0;   // those bits, so turned that codes ascend as values do
    std::uint64_t count = 0;  // at least 1
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  // The least and the greatest binary64 of a bucket.
  struct Range {
    double least, greatest;
  };
  unsigned bits = kMostBits;    // 1 to 24: the most for which there are no more buckets than may be
  std::vector<Bucket> buckets;  // ascending; empty where no value was counted

  static constexpr unsigned kMostBits = 24;
  // So many buckets at most has the histogram of a variable of `elements` elements.
  static constexpr std::uint64_t most_buckets(std::uint64_t elements) {
    const std::uint64_t sixteenth = elements / 16;
    return sixteenth < 16 ? 16 : sixteenth > 256 ? 256 : sixteenth;
  }
  NMB_EXPORT Range range(const Bucket& bucket) const;
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// Of one variable. Elements that are not missing and no NaN have an order: of numbers that of their
// type (_Unsigned, scale_factor and add_offset change nothing), -0 before 0; text has none.
struct VariableStatistics {
  bool computed = false;  // false: nothing is known, all else is 0
  // The classic type whose values those are, be their bytes in whatever order.
  Type type = Type::kByte;
  std::uint64_t elements = 0;  // in all
  std::uint64_t missing = 0;   // equal to the fill value or to missing_value
  std::uint64_t nans = 0;      // NaN, and not missing
  bool has_range = false;      // numbers, of which there is one at least
  // External form: big-endian, type_size(type) bytes, then zeros.
  std::array<std::byte, 8> minimum{}, maximum{};
  Histogram histogram;  // of numbers, where asked for

  // Counted in minimum, maximum and histogram.
  std::uint64_t ordered() const { return elements - missing - nans; }
  friend bool operator==(const VariableStatistics&, const VariableStatistics&) = default;
};

struct BlockStatistics {
  StatisticsLevel level = StatisticsLevel::kBasic;
  std::vector<VariableStatistics> variables;  // all of the block, in order

  // Variables of which nothing is known.
  std::uint64_t not_computed() const {
    std::uint64_t count = 0;
    for (const VariableStatistics& variable : variables) count += !variable.computed;
    return count;
  }
};

// A value that somebody gave a block.
using TagValue = std::variant<std::string, std::int64_t, std::uint64_t, double>;

struct TagCounts {
  std::uint64_t tags = 0, blocks = 0;  // blocks: those with at least one
};

}  // namespace nmb
