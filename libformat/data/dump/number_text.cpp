#include "dump/number_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dump/dump.h"
#include "wire/endian.h"

namespace nmb {

void NumberText::set(std::string_view text) { size_ = text.copy(buffer_.data(), buffer_.size()); }

template <class Integer>
void NumberText::set_integer(const std::byte* value) {
  const auto bits = load_be<std::make_unsigned_t<Integer>>(value);
  const auto end =
      std::to_chars(buffer_.data(), buffer_.data() + buffer_.size(), static_cast<Integer>(bits));
  size_ = static_cast<std::size_t>(end.ptr - buffer_.data());
}

template <class Real>
void NumberText::set_real(Real value, Digits wanted) {
  special_ = !std::isfinite(value);
  if (std::isnan(value)) return set("NaN");
  if (std::isinf(value)) return set(value > 0 ? "Infinity" : "-Infinity");

  // Divides the text "d.ddde-dd" into digits and exponent, and writes them in the form that %g
  // chooses.
  std::array<char, 32> shortest;
  constexpr int kDigits = std::numeric_limits<Real>::digits10 + (sizeof(Real) == 4);
  char* const first = shortest.data();
  const auto end = wanted == Digits::kNcdump
                       ? std::to_chars(first, first + shortest.size(), std::abs(value),
                                       std::chars_format::scientific, kDigits - 1)
                       : std::to_chars(first, first + shortest.size(), std::abs(value),
                                       std::chars_format::scientific);
  const std::string_view text(first, static_cast<std::size_t>(end.ptr - first));
  const std::size_t e = text.find('e');
  int exponent = 0;
  // from_chars does not accept a plus sign.
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(),
                  exponent);
  std::array<char, 24> digits;
  int count = 0;
  for (char c : text.substr(0, e))
    if (c != '.') digits[static_cast<std::size_t>(count++)] = c;
  while (count > 1 && digits[static_cast<std::size_t>(count - 1)] == '0') --count;

  if (std::signbit(value)) append('-');
  const auto put_digits = [&](int from, int to) {
    for (int i = from; i < to; ++i) append(i < count ? digits[static_cast<std::size_t>(i)] : '0');
  };
  const int precision = std::max(count, kDigits);
  if (exponent < -4 || exponent >= precision) {
    put_digits(0, 1);
    if (count > 1) append('.');
    put_digits(1, count);
    for (char c : text.substr(e)) append(c);
  } else if (exponent < 0) {
    append('0');
    append('.');
    for (int i = -1; i > exponent; --i) append('0');
    put_digits(0, count);
  } else {
    put_digits(0, exponent + 1);
    if (count > exponent + 1) append('.');
    put_digits(exponent + 1, count);
  }
}

NumberText::NumberText(Type type, const std::byte* value, Digits digits) {
  set_number(type, value, digits);
}

void NumberText::set_number(Type type, const std::byte* value, Digits digits) {
  switch (type) {
    case Type::kByte:
      return set_integer<std::int8_t>(value);
    case Type::kChar:
    case Type::kUByte:
      return set_integer<std::uint8_t>(value);
    case Type::kShort:
      return set_integer<std::int16_t>(value);
    case Type::kUShort:
      return set_integer<std::uint16_t>(value);
    case Type::kInt:
      return set_integer<std::int32_t>(value);
    case Type::kUInt:
      return set_integer<std::uint32_t>(value);
    case Type::kInt64:
      return set_integer<std::int64_t>(value);
    case Type::kUInt64:
      return set_integer<std::uint64_t>(value);
    case Type::kFloat:
      return set_real(std::bit_cast<float>(load_be<std::uint32_t>(value)), digits);
    case Type::kDouble:
      return set_real(std::bit_cast<double>(load_be<std::uint64_t>(value)), digits);
  }
}

std::string number_text(Type type, const std::byte* external) {
  return std::string(NumberText(type, external).text());
}

}  // namespace nmb
