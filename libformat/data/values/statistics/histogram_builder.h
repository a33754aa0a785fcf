// HistogramBuilder: counts values in buckets. If there are too many buckets, the buckets become
// wider (spec/tables.md, section 9.3). The result depends only on the values, not on their order.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/statistics.h"

namespace nmb {

// Returns the code of a value. The code has Histogram::kMostBits bits. number: must not be NaN.
inline std::uint32_t histogram_code(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);  // -0 + 0 is 0
  const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63);
  const std::uint64_t ordered = bits ^ (sign | (std::uint64_t{1} << 63));
  return static_cast<std::uint32_t>(ordered >> (64 - Histogram::kMostBits));
}
// Converts an integer to double and rounds it toward zero. A double holds only 53 bits, so lower
// bits are cleared before the conversion.
inline double toward_zero(std::uint64_t value) {
  return static_cast<double>(value >> 53 ? value & ~std::uint64_t{0x7ff} : value);
}
inline double toward_zero(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? -toward_zero(std::uint64_t{0} - bits) : toward_zero(bits);
}

class HistogramBuilder {
 public:
  // Clears all counts. most: largest number of buckets.
  void begin(std::uint64_t most);
  // codes: codes with Histogram::kMostBits bits.
  void add(std::span<const std::uint32_t> codes);
  void add(std::uint32_t code, std::uint64_t count);
  // Adds the counts of `other`, which may have a different number of bits.
  void merge(const Histogram& other);
  Histogram take() const;

 private:
  struct Slot {
    std::uint32_t code = 0;
    std::uint64_t count = 0;  // 0 in a free slot
  };
  bool insert(std::uint32_t code, std::uint64_t count);
  void coarsen_for(std::span<const std::uint32_t> codes);
  void coarsen(unsigned shift);

  std::vector<Slot> slots_;  // hash table with open addressing; the number of slots is a power of
                             // 2; at most half of the slots are used
  std::uint64_t most_ = 0, used_ = 0;
  unsigned shift_ = 0;  // number of bits that are cut off at the right of each code
};

}  // namespace nmb
