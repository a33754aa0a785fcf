#include "netcdf/classic_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "wire/endian.h"
#include "wire/swap_values.h"

namespace nmb {

namespace {

constexpr std::uint64_t kNumberBytes = 8;  // size of a number

// Returns the number format of a type or, for an enum, of its base type. Numbers of classic types
// are big-endian.
ExtendedType number_form(const TypeTable& types, Type type) {
  if (TypeTable::is_extended(type)) {
    const ExtendedType& own = types.at(type);
    return own.type_class == TypeClass::kEnum ? number_form(types, own.base) : own;
  }
  ExtendedType form;
  form.size = type_size(type);
  form.precision = static_cast<std::uint32_t>(form.size * 8);
  form.order = ByteOrder::kBig;
  form.is_signed =
      type == Type::kByte || type == Type::kShort || type == Type::kInt || type == Type::kInt64;
  return form;
}

Type integer_type(std::uint32_t precision, bool is_signed) {
  if (precision <= 8) return is_signed ? Type::kByte : Type::kUByte;
  if (precision <= 16) return is_signed ? Type::kShort : Type::kUShort;
  if (precision <= 32) return is_signed ? Type::kInt : Type::kUInt;
  return is_signed ? Type::kInt64 : Type::kUInt64;
}

// Returns whether a float type with `mantissa` bits and exponents from `least` to `most` holds
// every number of `form`.
bool fits(const ExtendedType& form, std::int64_t mantissa, std::int64_t least, std::int64_t most) {
  const auto bias = static_cast<std::int64_t>(form.exponent_bias);
  const std::int64_t largest = (std::int64_t{1} << form.exponent_size) - 2 - bias;
  return form.mantissa_size <= mantissa && largest <= most &&
         1 - bias - std::int64_t{form.mantissa_size} >= least;
}

std::optional<Type> float_type(const ExtendedType& form) {
  const std::uint64_t bits = form.size * 8;
  // The positions count from the first bit of the value, also if unused bits precede the number.
  const bool is_known = form.normalization == Normalization::kImplied && form.exponent_size >= 1 &&
                        form.exponent_size <= 11 && form.mantissa_size <= 52 &&
                        form.exponent_bias <= 1 << 12 && form.sign_position < bits &&
                        std::uint64_t{form.exponent_position} + form.exponent_size <= bits &&
                        std::uint64_t{form.mantissa_position} + form.mantissa_size <= bits;
  if (!is_known) return std::nullopt;
  if (fits(form, 23, -149, 127)) return Type::kFloat;
  if (fits(form, 52, -1074, 1023)) return Type::kDouble;
  return std::nullopt;
}

std::optional<Type> number_type(const ExtendedType& form) {
  if (form.size > kNumberBytes || form.order == ByteOrder::kVax) return std::nullopt;
  if (form.type_class == TypeClass::kInteger) return integer_type(form.precision, form.is_signed);
  if (form.type_class == TypeClass::kFloat) return float_type(form);
  return std::nullopt;
}

std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t stored_bits(const ExtendedType& form, const std::byte* value) {
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < form.size; ++i) {
    const std::uint64_t at = form.order == ByteOrder::kBig ? i : form.size - 1 - i;
    bits = bits << 8 | std::to_integer<std::uint64_t>(value[at]);
  }
  return bits;
}

// Returns an integer of this number format, with its sign extended to 64 bits.
std::uint64_t integer_of(const ExtendedType& form, const std::byte* value) {
  const std::uint64_t bits = low_bits(stored_bits(form, value) >> form.bit_offset, form.precision);
  const bool negative = form.is_signed && (bits >> (form.precision - 1) & 1) != 0;
  return negative && form.precision < 64 ? bits | ~std::uint64_t{0} << form.precision : bits;
}

double float_of(const ExtendedType& form, const std::byte* value) {
  const std::uint64_t bits = stored_bits(form, value);
  const std::uint64_t sign = bits >> form.sign_position & 1;
  const std::uint64_t exponent = low_bits(bits >> form.exponent_position, form.exponent_size);
  const std::uint64_t mantissa = low_bits(bits >> form.mantissa_position, form.mantissa_size);
  if (exponent == low_bits(~std::uint64_t{0}, form.exponent_size))  // infinity or NaN
    return std::bit_cast<double>(sign << 63 | std::uint64_t{0x7FF} << 52 |
                                 mantissa << (52 - form.mantissa_size));
  const auto bias = static_cast<int>(form.exponent_bias);
  const auto digits = static_cast<int>(form.mantissa_size);
  const auto fraction = static_cast<double>(mantissa);
  const double number = exponent == 0 ? std::ldexp(fraction, 1 - bias - digits)
                                      : std::ldexp(std::ldexp(1.0, digits) + fraction,
                                                   static_cast<int>(exponent) - bias - digits);
  return sign != 0 ? -number : number;
}

void store_number(const ExtendedType& form, const std::byte* value, Type type, std::byte* out) {
  if (type == Type::kFloat) {
    const auto number = static_cast<float>(float_of(form, value));
    store_be(out, std::bit_cast<std::uint32_t>(number));
    return;
  }
  if (type == Type::kDouble) {
    store_be(out, std::bit_cast<std::uint64_t>(float_of(form, value)));
    return;
  }
  std::byte all[kNumberBytes];
  store_be(all, integer_of(form, value));
  const std::size_t size = type_size(type);
  std::copy_n(all + (kNumberBytes - size), size, out);
}

}  // namespace

std::optional<ClassicType> classic_type(const TypeTable& types, Type type) {
  if (const std::optional<Type> same = types.classic(type)) return ClassicType{*same, 0, false};
  const ExtendedType& own = types.at(type);
  if (own.type_class == TypeClass::kString && !own.variable_length)
    return ClassicType{Type::kChar, own.size, false};
  const std::optional<Type> number = number_type(number_form(types, type));
  if (!number) return std::nullopt;
  return ClassicType{*number, 0, true};
}

ClassicValues::ClassicValues(const TypeTable& types, Type from, const ClassicType& to)
    : to_(to),
      from_bytes_(types.value_size(from)),
      swapped_(types.classic(from) && types.is_swapped(from)) {
  if (to.is_changed) form_ = number_form(types, from);
}

ValueConversion ClassicValues::conversion() const {
  ValueConversion conversion;
  conversion.from_bytes = from_bytes_;
  conversion.to_bytes = to_.value_bytes();
  conversion.in_place = !to_.is_changed;
  conversion.convert = [values = *this](std::span<const std::byte> from, std::span<std::byte> out) {
    values.convert(from, out);
  };
  return conversion;
}

void ClassicValues::convert(std::span<const std::byte> values, std::span<std::byte> out) const {
  const std::uint64_t bytes = to_.value_bytes();
  if (to_.is_changed) {
    for (std::uint64_t at = 0, from = 0; at < out.size(); at += bytes, from += from_bytes_)
      store_number(form_, values.data() + from, to_.type, out.data() + at);
  } else if (swapped_) {
    swap_values(values.data(), out.data(), out.size() / bytes, bytes);
  } else if (!out.empty()) {
    std::memmove(out.data(), values.data(), out.size());
  }
}

}  // namespace nmb
