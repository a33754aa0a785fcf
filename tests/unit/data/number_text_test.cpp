// Numbers as text: the form, and that nothing is lost.
#include "dump/number_text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "model/values.h"
#include "wire/endian.h"

namespace nmb {
namespace {

template <class T>
std::string text_of(Type type, T value) {
  std::array<std::byte, 8> external;
  EXPECT_EQ(convert_to_external(memory_type_of<T>(), &value, 1, type, external.data()), 0u);
  return std::string(NumberText(type, external.data()).text());
}

TEST(NumberText, Integers) {
  EXPECT_EQ(text_of(Type::kByte, std::int8_t{-128}), "-128");
  EXPECT_EQ(text_of(Type::kUByte, std::uint8_t{255}), "255");
  EXPECT_EQ(text_of(Type::kShort, std::int16_t{-32768}), "-32768");
  EXPECT_EQ(text_of(Type::kUShort, std::uint16_t{65535}), "65535");
  EXPECT_EQ(text_of(Type::kInt, std::numeric_limits<std::int32_t>::min()), "-2147483648");
  EXPECT_EQ(text_of(Type::kUInt, std::numeric_limits<std::uint32_t>::max()), "4294967295");
  EXPECT_EQ(text_of(Type::kInt64, std::numeric_limits<std::int64_t>::min()),
            "-9223372036854775808");
  EXPECT_EQ(text_of(Type::kUInt64, std::numeric_limits<std::uint64_t>::max()),
            "18446744073709551615");
}

TEST(NumberText, RealsLookAsPrintfWouldPrintThem) {
  EXPECT_EQ(text_of(Type::kDouble, 0.0), "0");
  EXPECT_EQ(text_of(Type::kDouble, -0.0), "-0");
  EXPECT_EQ(text_of(Type::kDouble, 1.0), "1");
  EXPECT_EQ(text_of(Type::kDouble, 0.1), "0.1");
  EXPECT_EQ(text_of(Type::kDouble, -1234.5), "-1234.5");
  EXPECT_EQ(text_of(Type::kDouble, 0.0001), "0.0001");
  EXPECT_EQ(text_of(Type::kDouble, 0.00001), "1e-05");
  EXPECT_EQ(text_of(Type::kDouble, 100000000000000.0), "100000000000000");
  EXPECT_EQ(text_of(Type::kDouble, 1e15), "1e+15");
  EXPECT_EQ(text_of(Type::kDouble, 1234567890123456.0), "1234567890123456");
  EXPECT_EQ(text_of(Type::kDouble, 1.5e300), "1.5e+300");
  EXPECT_EQ(text_of(Type::kFloat, 0.1f), "0.1");
  EXPECT_EQ(text_of(Type::kFloat, 1e6f), "1000000");
  EXPECT_EQ(text_of(Type::kFloat, 1e7f), "1e+07");
  EXPECT_EQ(text_of(Type::kFloat, 16777216.0f), "16777216");
  EXPECT_EQ(text_of(Type::kFloat, std::numeric_limits<float>::infinity()), "Infinity");
  EXPECT_EQ(text_of(Type::kDouble, -std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(text_of(Type::kDouble, std::numeric_limits<double>::quiet_NaN()), "NaN");
}

template <class Real, class Bits>
void check_round_trip(Type type) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200000; ++i) {
    const Bits bits = static_cast<Bits>(random());
    std::array<std::byte, 8> external;
    store_be(external.data(), bits);
    const NumberText number(type, external.data());
    if (number.is_special()) continue;
    Real back{};
    const std::string_view text = number.text();
    const auto end = std::from_chars(text.data(), text.data() + text.size(), back);
    ASSERT_EQ(end.ptr, text.data() + text.size()) << text;
    ASSERT_EQ(std::bit_cast<Bits>(back), bits) << text;
  }
}

TEST(NumberText, RealsReadBackTheSame) {
  check_round_trip<float, std::uint32_t>(Type::kFloat);
  check_round_trip<double, std::uint64_t>(Type::kDouble);
}

}  // namespace
}  // namespace nmb
