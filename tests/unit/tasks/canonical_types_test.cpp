// Canonical types and values (spec/digest.md, sections 3 and 4).
#include "compare/canonical_types.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "wire/endian.h"

namespace nmb {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<std::byte> canonical(const TypeTable& types, Type type,
                                 const std::vector<std::byte>& value) {
  std::uint64_t left = value.size();
  std::vector<std::byte> out;
  const Status status =
      CanonicalTypes(&types).append(type, value.data(), MemorySource(value), &left, &out);
  EXPECT_TRUE(status.ok()) << status.text();
  return out;
}

ExtendedType little_integer(std::uint64_t size) {
  ExtendedType type;
  type.size = size;
  type.is_signed = true;
  type.precision = static_cast<std::uint32_t>(8 * size);
  return type;
}

Type added(TypeTable* types, ExtendedType type) {
  const Result<Type> code = types->add(std::move(type));
  EXPECT_TRUE(code.ok()) << code.status().text();
  return *code;
}

TEST(CanonicalTypes, LittleEndianIntegersAreReversed) {
  TypeTable types;
  const Type code = added(&types, little_integer(4));
  EXPECT_EQ(canonical(types, code, bytes_of({1, 2, 3, 4})), bytes_of({4, 3, 2, 1}));
  TypeTexts texts(&types);
  EXPECT_EQ(*texts.of(code), "int");
}

TEST(CanonicalTypes, CompoundsHaveNoBytesBetweenFields) {
  TypeTable types;
  const Type integer = added(&types, little_integer(2));
  ExtendedType compound;
  compound.type_class = TypeClass::kCompound;
  compound.size = 16;
  compound.fields = {{"a", 0, integer}, {"b:", 8, Type::kDouble}};
  const Type code = added(&types, compound);
  std::vector<std::byte> value(16, std::byte{0xEE});
  value[0] = std::byte{1};
  value[1] = std::byte{2};
  store_be(value.data() + 8, std::uint64_t{0xFFF0000000000001});  // a NaN
  EXPECT_EQ(canonical(types, code, value), bytes_of({2, 1, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(CanonicalTypes(&types).canonical_bytes(code), 10U);
  TypeTexts texts(&types);
  EXPECT_EQ(*texts.of(code), "compound(1:a=short;2:b:=double;)");
}

TEST(CanonicalTypes, EnumsHaveTheirMembersInTheOrderOfNames) {
  TypeTable types;
  const Type integer = added(&types, little_integer(2));
  ExtendedType type;
  type.type_class = TypeClass::kEnum;
  type.size = 2;
  type.base = integer;
  type.names = {"on", "off"};
  type.values = bytes_of({1, 0, 0, 0});
  const Type code = added(&types, type);
  TypeTexts texts(&types);
  EXPECT_EQ(*texts.of(code), "enum(short;3:off=0000;2:on=0001)");
  EXPECT_EQ(canonical(types, code, bytes_of({1, 0})), bytes_of({0, 1}));
}

TEST(CanonicalTypes, SequencesBeginWithTheirLength) {
  TypeTable types;
  ExtendedType type;
  type.type_class = TypeClass::kVlen;
  type.size = TypeTable::kHeapValue;
  type.base = added(&types, little_integer(2));
  const Type code = added(&types, type);
  std::vector<std::byte> value(20);
  store_le<std::uint64_t>(value.data(), 2);
  store_le<std::uint64_t>(value.data() + 8, 16);
  value[16] = std::byte{7};
  value[19] = std::byte{1};
  EXPECT_EQ(canonical(types, code, value), bytes_of({0, 0, 0, 0, 0, 0, 0, 2, 0, 7, 1, 0}));
}

TEST(CanonicalTypes, StringsTellNullFromEmpty) {
  TypeTable types;
  ExtendedType type;
  type.type_class = TypeClass::kString;
  type.variable_length = true;
  type.size = TypeTable::kHeapValue;
  const Type code = added(&types, type);
  std::vector<std::byte> value(16);
  EXPECT_EQ(canonical(types, code, value), bytes_of({0, 0, 0, 0, 0, 0, 0, 0, 0}));
  value[8] = std::byte{16};
  EXPECT_EQ(canonical(types, code, value), bytes_of({1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// A few bytes of a file must not make the program compute for hours.
TEST(CanonicalTypes, FieldsDoNotOverlap) {
  TypeTable types;
  ExtendedType compound;
  compound.type_class = TypeClass::kCompound;
  compound.size = 2;
  const Type inner = added(&types, little_integer(1));
  compound.fields = {{"a", 0, inner}, {"b", 0, inner}};
  EXPECT_FALSE(types.add(compound).ok());
  compound.fields[1].offset = 1;
  EXPECT_TRUE(types.add(compound).ok());
}

TEST(CanonicalTypes, ValuesThatShareBytesAreLimited) {
  TypeTable types;
  ExtendedType type;
  type.type_class = TypeClass::kString;
  type.variable_length = true;
  type.size = TypeTable::kHeapValue;
  const Type code = added(&types, type);
  std::vector<std::byte> value(1 << 20);
  store_le<std::uint64_t>(value.data(), value.size() - 16);
  store_le<std::uint64_t>(value.data() + 8, 16);
  const MemorySource region(value);
  std::uint64_t left = value.size();
  Status status;
  int rounds = 0;
  for (; status.ok() && rounds < 1000; ++rounds) {
    std::vector<std::byte> out;
    status = CanonicalTypes(&types).append(code, value.data(), region, &left, &out);
  }
  EXPECT_EQ(status.rule(), "R-XV-2") << status.text();
  EXPECT_EQ(rounds, 2);
}

TEST(CanonicalTypes, EachNanIsTheSame) {
  constexpr std::uint64_t kBits[] = {0x7FF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF,
                                     0x7FF0000000000000, 0xFFF0000000000000, 0x8000000000000000,
                                     0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF};
  // The values stand at each place of a group, and after the last whole group.
  for (std::size_t before = 0; before < 70; ++before) {
    std::vector<std::byte> values((before + std::size(kBits)) * 8);
    for (std::size_t i = 0; i < std::size(kBits); ++i)
      store_be(values.data() + (before + i) * 8, kBits[i]);
    make_nans_canonical(Type::kDouble, values);
    for (std::size_t i = 0; i < std::size(kBits); ++i)
      EXPECT_EQ(load_be<std::uint64_t>(values.data() + (before + i) * 8),
                i < 3 ? 0x7FF8000000000000 : kBits[i]);
  }
  for (const std::uint32_t bits : {0x7F800001U, 0xFFC00000U, 0x7FFFFFFFU}) {
    std::vector<std::byte> value(4);
    store_be(value.data(), bits);
    make_nans_canonical(Type::kFloat, value);
    EXPECT_EQ(load_be<std::uint32_t>(value.data()), 0x7FC00000U);
  }
  std::vector<std::byte> infinity(4);
  store_be<std::uint32_t>(infinity.data(), 0xFF800000U);
  make_nans_canonical(Type::kFloat, infinity);
  EXPECT_EQ(load_be<std::uint32_t>(infinity.data()), 0xFF800000U);
}

}  // namespace
}  // namespace nmb
