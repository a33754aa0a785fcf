// The integers of thousands of bits at the end of this file are those of OpenSSL.
#include "values/statistics/exact_sums.h"

#include <openssl/bn.h>

#include <bit>
#include <cmath>
#include <memory>
#include <new>
#include <span>

namespace nmb {

namespace {

struct FreeBigNumber {
  void operator()(BIGNUM* number) const { BN_free(number); }
};
struct FreeContext {
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
};
using BigNumber = std::unique_ptr<BIGNUM, FreeBigNumber>;
using Context = std::unique_ptr<BN_CTX, FreeContext>;

// OpenSSL fails only for lack of memory.
void check(int result) {
  if (result != 1) throw std::bad_alloc();
}
BigNumber new_number() {
  BigNumber number(BN_new());
  if (!number) throw std::bad_alloc();
  return number;
}
Context new_context() {
  Context context(BN_CTX_new());
  if (!context) throw std::bad_alloc();
  return context;
}

BigNumber number_of(std::uint64_t value) {
  BigNumber number = new_number();
  check(BN_set_word(number.get(), value));
  return number;
}

// Returns the limbs as one integer.
template <class Sum>
BigNumber integer_of(Sum sum) {
  sum.carry();
  BigNumber number = new_number();
  const std::span limbs(sum.limbs());
  const auto add = [&](std::int64_t limb) {
    const auto value = static_cast<std::uint64_t>(limb < 0 ? -limb : limb);
    check(limb < 0 ? BN_sub_word(number.get(), value) : BN_add_word(number.get(), value));
  };
  for (std::size_t i = limbs.size(); i-- > 0;) {
    check(BN_lshift(number.get(), number.get(), static_cast<int>(Sum::kLimb)));
    add(limbs[i]);
  }
  return number;
}

// fraction * 2^exponent. As a double, this number could overflow or become 0.
struct Scaled {
  double fraction = 0;
  int exponent = 0;
};

// Returns numerator / denominator, rounded to the nearest fraction of 53 bits, with an even
// exponent.
Scaled quotient(const BIGNUM* numerator, const BIGNUM* denominator, BN_CTX* context) {
  if (BN_is_zero(numerator)) return {};
  // The quotient gets at least 66 bits.
  const int shift = 66 - (BN_num_bits(numerator) - BN_num_bits(denominator));
  BigNumber scaled = new_number(), divided = new_number(), rest = new_number();
  if (shift >= 0)
    check(BN_lshift(scaled.get(), numerator, shift));
  else
    check(BN_copy(scaled.get(), numerator) != nullptr);
  BigNumber divisor = new_number();
  check(shift >= 0 ? BN_copy(divisor.get(), denominator) != nullptr
                   : BN_lshift(divisor.get(), denominator, -shift));
  check(BN_div(divided.get(), rest.get(), scaled.get(), divisor.get(), context));
  const bool negative = BN_is_negative(divided.get()) != 0;
  const int bits = BN_num_bits(divided.get());
  int exponent = -shift;
  const int cut = bits - 62;  // 62 bits leave one for all bits that are cut off
  BigNumber top = new_number();
  check(BN_rshift(top.get(), divided.get(), cut));
  BigNumber back = new_number();
  check(BN_lshift(back.get(), top.get(), cut));
  const bool inexact = !BN_is_zero(rest.get()) || BN_cmp(back.get(), divided.get()) != 0;
  BN_set_negative(top.get(), 0);
  exponent += cut;
  std::uint64_t fraction = BN_get_word(top.get());
  if (exponent & 1) {
    fraction <<= 1;
    --exponent;
  }
  fraction |= inexact ? 1 : 0;
  const auto rounded = static_cast<double>(fraction);
  return {negative ? -rounded : rounded, exponent};
}

}  // namespace

void ExactSums::add(std::uint64_t magnitude, int exponent, bool negative) {
  ++count_;
  if (magnitude == 0) return;
  sum_.add(magnitude, exponent, negative);
  const unsigned __int128 square = static_cast<unsigned __int128>(magnitude) * magnitude;
  squares_.add(static_cast<std::uint64_t>(square), 2 * exponent, false);
  if (const auto high = static_cast<std::uint64_t>(square >> 64); high != 0)
    squares_.add(high, 2 * exponent + 64, false);
}

void ExactSums::add(double value) {
  if (!std::isfinite(value)) {
    infinite_ = true;
    ++count_;
    return;
  }
  constexpr int kFractionBits = 52, kBias = 1075;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << kFractionBits) - 1);
  const auto exponent = static_cast<int>(bits >> kFractionBits & 0x7ff);
  if (exponent == 0)
    add(fraction, 1 - kBias, bits >> 63 != 0);
  else
    add(fraction | std::uint64_t{1} << kFractionBits, exponent - kBias, bits >> 63 != 0);
}

void ExactSums::add(const ExactSums& other) {
  sum_.add(other.sum_);
  squares_.add(other.squares_);
  count_ += other.count_;
  infinite_ |= other.infinite_;
}

void ExactSums::add_times(ExactSums other, std::uint64_t times) {
  for (; times > 0; times >>= 1) {
    if (times & 1) add(other);
    if (times > 1) other.add(ExactSums(other));
  }
}

std::optional<Moments> ExactSums::moments() const {
  if (count_ == 0 || infinite_) return std::nullopt;
  const Context context = new_context();
  const BigNumber sum = integer_of(sum_), squares = integer_of(squares_), count = number_of(count_);
  const Scaled mean = quotient(sum.get(), count.get(), context.get());
  // The variance is (count * squares - sum^2) / count^2. Both terms of the difference have the unit
  // 2^-2148.
  BigNumber product = new_number(), square = new_number(), divisor = new_number();
  check(BN_mul(product.get(), squares.get(), count.get(), context.get()));
  check(BN_sqr(square.get(), sum.get(), context.get()));
  check(BN_sub(product.get(), product.get(), square.get()));
  check(BN_sqr(divisor.get(), count.get(), context.get()));
  const Scaled variance = quotient(product.get(), divisor.get(), context.get());
  return Moments{std::ldexp(mean.fraction, mean.exponent - 1074),
                 std::ldexp(std::sqrt(variance.fraction), variance.exponent / 2 - 1074)};
}

}  // namespace nmb
