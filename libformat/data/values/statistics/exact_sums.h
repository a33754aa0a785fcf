// ExactSums: the sum of numbers and of their squares, without rounding. Therefore mean and standard
// deviation do not depend on the order in which the numbers are added, nor on the number of
// threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "nmb/statistics.h"

namespace nmb {

// A sum of numbers m * 2^e, where m is an integer and e is at least -kFraction. kBits: the number
// of bits that the sum may have.
template <unsigned kFraction, unsigned kBits>
class FixedPointSum {
 public:
  // Adds (or, if `negative`, subtracts) magnitude * 2^exponent.
  void add(std::uint64_t magnitude, int exponent, bool negative) {
    const auto position = static_cast<unsigned>(exponent + static_cast<int>(kFraction));
    const unsigned __int128 shifted = static_cast<unsigned __int128>(magnitude) << position % kLimb;
    std::int64_t* limb = &limbs_[position / kLimb];
    const auto low = static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted));
    const auto middle = static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> kLimb));
    const auto high = static_cast<std::int64_t>(shifted >> 2 * kLimb);
    limb[0] += negative ? -low : low;
    limb[1] += negative ? -middle : middle;
    limb[2] += negative ? -high : high;
    if (++added_ == kMostAdded) carry();
  }
  void add(const FixedPointSum& other) {
    FixedPointSum small = other;
    small.carry();
    carry();
    for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] += small.limbs_[i];
    added_ = 1;
  }
  // Makes all limbs but the last one numbers from 0 to 2^32 - 1.
  void carry() {
    for (std::size_t i = 0; i + 1 < limbs_.size(); ++i) {
      limbs_[i + 1] += limbs_[i] >> kLimb;
      limbs_[i] &= (std::int64_t{1} << kLimb) - 1;
    }
    added_ = 0;
  }

  static constexpr unsigned kLimb = 32;  // bits
  // From the lowest. The value is the sum of limb i * 2^(32 i - kFraction).
  const auto& limbs() const { return limbs_; }

 private:
  static constexpr std::uint32_t kMostAdded = 1 << 30;  // each adds less than 2^32 to a limb
  std::array<std::int64_t, kBits / kLimb + 3> limbs_{};
  std::uint32_t added_ = 0;
};

class ExactSums {
 public:
  void add(double value);
  void add(std::int64_t value) { add(magnitude(value), 0, value < 0); }
  void add(std::uint64_t value) { add(value, 0, false); }
  void add(const ExactSums& other);
  // Adds all numbers of `other`, `times` times.
  void add_times(ExactSums other, std::uint64_t times);
  // Returns mean and standard deviation of the numbers. Returns nullopt if there are no numbers, or
  // if one of them is infinite. The mean is rounded to the nearest double, and the deviation to one
  // of the two nearest.
  std::optional<Moments> moments() const;

 private:
  static std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  }
  void add(std::uint64_t magnitude, int exponent, bool negative);

  // The least positive double is 2^-1074, and all are less than 2^1024. There are less than 2^63.
  FixedPointSum<1074, 1074 + 1024 + 63> sum_;
  FixedPointSum<2148, 2148 + 2048 + 63> squares_;
  std::uint64_t count_ = 0;
  bool infinite_ = false;
};

}  // namespace nmb
