#include "sources/value_rebasing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "model/values.h"

namespace nmb {

namespace {

__extension__ using Wide = __int128;

// A finite number: mantissa * 2^exponent.
struct Binary {
  Wide mantissa = 0;
  int exponent = 0;
};

// Multiplies by 2^bits. Returns false if the result has more than 126 bits.
bool shift_left(Wide* value, int bits) {
  constexpr int kBits = 126;
  if (*value == 0 || bits == 0) return true;
  const Wide magnitude = *value < 0 ? -*value : *value;
  if (bits > kBits || magnitude >> (kBits - bits) != 0) return false;
  *value *= Wide{1} << bits;
  return true;
}

// Moves factors of 2 from the mantissa to the exponent.
void strip(Binary* value) {
  while (value->mantissa != 0 && value->mantissa % 2 == 0) {
    value->mantissa /= 2;
    ++value->exponent;
  }
}

bool is_floating(Type type) { return type == Type::kFloat || type == Type::kDouble; }

class Rebaser {
 public:
  explicit Rebaser(Rebasing how)
      : type_(how.type), size_(type_size(how.type)), kept_(std::move(how.kept)) {
    const std::int64_t common = std::gcd(std::gcd(how.from, how.to), how.shift);
    from_ = how.from / common;
    shift_ = how.shift / common;
    const std::int64_t to = how.to / common;
    twos_ = std::countr_zero(static_cast<std::uint64_t>(to));
    odd_ = to >> twos_;
    is_identity_ = from_ == to && shift_ == 0;
  }

  std::size_t size() const { return size_; }

  // Sets `out` to the result of a value. Returns false if there is no exact result. `out` may be
  // the value itself.
  bool rebase(const std::byte* value, std::byte* out) const {
    std::byte result[8];
    const std::optional<Binary> number = is_kept(value) ? std::nullopt : read(value);
    if (is_identity_ || !number) {
      std::memmove(out, value, size_);
      return true;
    }
    Binary binary = *number;
    if (!compute(&binary) || !write(binary, result) || is_kept(result)) return false;
    std::memcpy(out, result, size_);
    return true;
  }

 private:
  bool is_kept(const std::byte* value) const {
    for (std::size_t at = 0; at < kept_.size(); at += size_)
      if (std::memcmp(kept_.data() + at, value, size_) == 0) return true;
    return false;
  }

  // Returns nullopt if the value is not finite.
  std::optional<Binary> read(const std::byte* value) const {
    if (type_ == Type::kUInt64) {
      std::uint64_t number = 0;
      convert_from_external(type_, value, 1, MemoryType::kUInt64, &number);
      return Binary{number, 0};
    }
    if (!is_floating(type_)) {
      std::int64_t number = 0;
      convert_from_external(type_, value, 1, MemoryType::kInt64, &number);
      return Binary{number, 0};
    }
    double number = 0;
    convert_from_external(type_, value, 1, MemoryType::kDouble, &number);
    if (!std::isfinite(number)) return std::nullopt;
    constexpr int kDigits = std::numeric_limits<double>::digits;
    int exponent = 0;
    const double mantissa = std::ldexp(std::frexp(number, &exponent), kDigits);
    Binary out{static_cast<std::int64_t>(mantissa), exponent - kDigits};
    strip(&out);
    if (out.mantissa == 0) out.exponent = 0;
    return out;
  }

  // Computes (value * from + shift) / to. If the numerator does not fit, its lowest and highest bit
  // are too far apart for any type.
  bool compute(Binary* value) const {
    const int low = std::min(value->exponent, 0);
    Wide sum = value->mantissa * from_, shift = shift_;
    if (!shift_left(&sum, value->exponent - low) || !shift_left(&shift, -low)) return false;
    sum += shift;
    if (sum % odd_ != 0) return false;
    *value = {sum / odd_, low - twos_};
    strip(value);
    if (value->mantissa == 0) value->exponent = 0;
    return true;
  }

  bool write(Binary value, std::byte* out) const {
    if (is_floating(type_)) {
      const int digits = type_ == Type::kFloat ? std::numeric_limits<float>::digits
                                               : std::numeric_limits<double>::digits;
      const Wide magnitude = value.mantissa < 0 ? -value.mantissa : value.mantissa;
      if (magnitude >> digits != 0) return false;
      const double number = std::ldexp(static_cast<double>(value.mantissa), value.exponent);
      if (!std::isfinite(number)) return false;
      if (type_ == Type::kFloat) {
        if (std::fabs(number) > std::numeric_limits<float>::max() ||
            static_cast<double>(static_cast<float>(number)) != number)
          return false;
      }
      return convert_to_external(MemoryType::kDouble, &number, 1, type_, out) == 0;
    }
    if (value.exponent < 0 || !shift_left(&value.mantissa, value.exponent)) return false;
    if (type_ == Type::kUInt64) {
      if (value.mantissa < 0 || value.mantissa > std::numeric_limits<std::uint64_t>::max())
        return false;
      const auto number = static_cast<std::uint64_t>(value.mantissa);
      return convert_to_external(MemoryType::kUInt64, &number, 1, type_, out) == 0;
    }
    if (value.mantissa < std::numeric_limits<std::int64_t>::min() ||
        value.mantissa > std::numeric_limits<std::int64_t>::max())
      return false;
    // Counts numbers out of the range of the type.
    const auto number = static_cast<std::int64_t>(value.mantissa);
    return convert_to_external(MemoryType::kInt64, &number, 1, type_, out) == 0;
  }

  Type type_;
  std::size_t size_;
  std::vector<std::byte> kept_;
  std::int64_t from_ = 1, shift_ = 0;
  std::int64_t odd_ = 1;  // the divisor is odd_ * 2^twos_
  int twos_ = 0;
  bool is_identity_ = false;
};

}  // namespace

std::optional<std::size_t> first_inexact(const Rebasing& how, std::span<const std::byte> values) {
  const Rebaser rebaser(how);
  std::byte result[8];
  for (std::size_t at = 0; at + rebaser.size() <= values.size(); at += rebaser.size())
    if (!rebaser.rebase(values.data() + at, result)) return at / rebaser.size();
  return std::nullopt;
}

ValueConversion rebasing(Rebasing how) {
  ValueConversion conversion;
  conversion.from_bytes = conversion.to_bytes = type_size(how.type);
  conversion.in_place = true;
  conversion.convert = [rebaser = Rebaser(how)](std::span<const std::byte> values,
                                                std::span<std::byte> out) {
    for (std::size_t at = 0; at + rebaser.size() <= out.size(); at += rebaser.size())
      if (!rebaser.rebase(values.data() + at, out.data() + at))
        std::memmove(out.data() + at, values.data() + at, rebaser.size());
  };
  conversion.rebasing = std::move(how);
  return conversion;
}

}  // namespace nmb
