// Fill values and the pattern of values never written.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/values.h"

#ifdef NMB_TEST_NETCDF
#include <netcdf.h>
#endif

namespace nmb {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

template <class T>
T default_as(Type type) {
  T value{};
  EXPECT_EQ(
      convert_from_external(type, default_fill_value(type).data(), 1, memory_type_of<T>(), &value),
      0u);
  return value;
}

TEST(FillValue, DefaultsOfTypes) {
  EXPECT_EQ(default_fill_value(Type::kChar), bytes({0}));
  EXPECT_EQ(default_as<std::int8_t>(Type::kByte), -127);
  EXPECT_EQ(default_as<std::int16_t>(Type::kShort), -32767);
  EXPECT_EQ(default_as<std::int32_t>(Type::kInt), -2147483647);
  EXPECT_EQ(default_fill_value(Type::kFloat), bytes({0x7c, 0xf0, 0, 0}));
  EXPECT_EQ(default_fill_value(Type::kDouble), bytes({0x47, 0x9e, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(default_as<std::uint8_t>(Type::kUByte), 255);
  EXPECT_EQ(default_as<std::uint16_t>(Type::kUShort), 65535);
  EXPECT_EQ(default_as<std::uint32_t>(Type::kUInt), 4294967295U);
  EXPECT_EQ(default_as<std::int64_t>(Type::kInt64), -9223372036854775806);
  EXPECT_EQ(default_as<std::uint64_t>(Type::kUInt64), 18446744073709551614U);
}

#ifdef NMB_TEST_NETCDF
TEST(FillValue, DefaultsAreNetcdfs) {
  EXPECT_EQ(default_as<std::int8_t>(Type::kByte), NC_FILL_BYTE);
  EXPECT_EQ(default_as<std::int16_t>(Type::kShort), NC_FILL_SHORT);
  EXPECT_EQ(default_as<std::int32_t>(Type::kInt), NC_FILL_INT);
  EXPECT_EQ(default_as<float>(Type::kFloat), NC_FILL_FLOAT);
  EXPECT_EQ(default_as<double>(Type::kDouble), NC_FILL_DOUBLE);
  EXPECT_EQ(default_as<std::uint8_t>(Type::kUByte), NC_FILL_UBYTE);
  EXPECT_EQ(default_as<std::uint16_t>(Type::kUShort), NC_FILL_USHORT);
  EXPECT_EQ(default_as<std::uint32_t>(Type::kUInt), NC_FILL_UINT);
  EXPECT_EQ(default_as<std::int64_t>(Type::kInt64), NC_FILL_INT64);
  EXPECT_EQ(default_as<std::uint64_t>(Type::kUInt64), NC_FILL_UINT64);
}
#endif

TEST(FillValue, AttributeOfTheSameTypeAndOneValue) {
  Metadata metadata;
  const VarId v = *metadata.def_var("v", Type::kShort, {});
  EXPECT_EQ(fill_value(metadata, v), bytes({0x80, 1}));
  ASSERT_TRUE(metadata.put_att(v, "_FillValue", Type::kUShort, bytes({1, 2})).ok());
  EXPECT_EQ(fill_value(metadata, v), bytes({0x80, 1}));
  ASSERT_TRUE(metadata.put_att(v, "_FillValue", Type::kShort, bytes({1, 2, 3, 4})).ok());
  EXPECT_EQ(fill_value(metadata, v), bytes({0x80, 1}));
  ASSERT_TRUE(metadata.put_att(v, "_FillValue", Type::kShort, bytes({1, 2})).ok());
  EXPECT_EQ(fill_value(metadata, v), bytes({1, 2}));
}

// Behind a header of 64 bytes: text "###" and a byte of padding, a gap of 4 bytes, an int; then
// records of a short and two bytes of padding, and a ubyte and three.
struct WithFillValues {
  Metadata metadata;
  ClassicLayout layout;
  WithFillValues() {
    const DimId time = *metadata.def_dim("time", kUnlimited);
    const DimId three = *metadata.def_dim("three", 3);
    const VarId text = *metadata.def_var("text", Type::kChar, std::vector{three});
    const VarId series = *metadata.def_var("series", Type::kShort, std::vector{time});
    const VarId number = *metadata.def_var("number", Type::kInt, {});
    const VarId flags = *metadata.def_var("flags", Type::kUByte, std::vector{time});
    EXPECT_TRUE(metadata.put_att(text, "_FillValue", Type::kChar, bytes({'#'})).ok());
    EXPECT_TRUE(metadata.put_att(series, "_FillValue", Type::kShort, bytes({1, 2})).ok());
    layout.header_length = 64;
    metadata.set_begin(text, 64);
    metadata.set_begin(number, 72);
    layout.record_begin = 76;
    layout.record_size = 8;
    metadata.set_begin(series, 76);
    metadata.set_begin(flags, 80);
  }
};

TEST(FillPattern, EveryRange) {
  const WithFillValues e;
  const FillPattern pattern(e.metadata, e.layout);
  std::vector<std::byte> expected = bytes({'#', '#', '#', 0, 0, 0, 0, 0, 0x80, 0, 0, 1});
  for (int record = 0; record < 4; ++record)
    for (std::byte b : bytes({1, 2, 0, 0, 0xff, 0, 0, 0})) expected.push_back(b);
  for (std::size_t from = 0; from <= expected.size(); ++from)
    for (std::size_t to = from; to <= expected.size(); ++to) {
      std::vector<std::byte> out(to - from, std::byte{0x55});
      pattern.fill(from, out);
      EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin() + static_cast<long>(from)))
          << from << " to " << to;
    }
}

TEST(FillPattern, NoVariables) {
  const Metadata metadata;
  const FillPattern pattern(metadata, ClassicLayout{});
  std::vector<std::byte> out(9, std::byte{1});
  pattern.fill(5, out);
  EXPECT_EQ(out, std::vector<std::byte>(9));
}

TEST(FillPattern, OverlapsAndBeginsInTheHeaderStayInBounds) {
  WithFillValues e;
  e.metadata.set_begin(0, 74);                     // over number
  e.metadata.set_begin(1, 79);                     // over flags
  e.metadata.set_begin(2, 10);                     // in the header
  e.metadata.set_begin(3, ~std::uint64_t{0} - 1);  // past any record
  const FillPattern pattern(e.metadata, e.layout);
  std::vector<std::byte> out(40);
  pattern.fill(0, out);
  const auto expected = bytes({'#', '#', 0, 0, 0, 1, 2, 0, 0, 0});
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + 10));
}

}  // namespace
}  // namespace nmb
