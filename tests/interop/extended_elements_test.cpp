// Elements of types that blocks from HDF5 define, as nmb/datatype.h describes them in memory.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "extended_file.h"
#include "nmb/reader.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

ExtendedType number(TypeClass of, std::uint64_t size, ByteOrder order, bool is_signed = true) {
  ExtendedType t;
  t.type_class = of;
  t.size = size;
  t.order = order;
  t.is_signed = is_signed;
  t.precision = static_cast<std::uint32_t>(size * 8);
  return t;
}
ExtendedType integer_type(std::uint64_t size, ByteOrder order, bool is_signed = true) {
  return number(TypeClass::kInteger, size, order, is_signed);
}
ExtendedType half_type(ByteOrder order) {
  ExtendedType t = number(TypeClass::kFloat, 2, order);
  t.normalization = Normalization::kImplied;
  t.sign_position = 15, t.exponent_position = 10, t.exponent_size = 5, t.mantissa_size = 10;
  t.exponent_bias = 15;
  return t;
}
ExtendedType text(std::uint64_t size, StringPadding padding) {
  ExtendedType t;
  t.type_class = TypeClass::kString;
  t.size = size;
  t.padding = padding;
  return t;
}
ExtendedType varying(TypeClass of, Type base = Type::kByte) {
  ExtendedType t;
  t.type_class = of;
  t.size = TypeTable::kHeapValue;
  t.variable_length = of == TypeClass::kString;
  t.base = base;
  return t;
}

class ExtendedElementsTest : public testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "a.nmb").string(); }
  // Writes the block, and returns the elements of `v`.
  Elements read(const ExtendedBlock& block) {
    write_extended(path(), {block});
    reader_.emplace(path());
    var_ = reader_->block(block.name()).var("v");
    return var_.elements();
  }
  DataType type() const { return var_.datatype(); }
  template <class T>
  static T at(const Elements& elements, std::size_t offset) {
    T value;
    std::memcpy(&value, elements.values.data() + offset, sizeof value);
    return value;
  }
  static std::string part(const Elements& elements, std::size_t offset) {
    return std::string(VariablePart::load(elements.values.data() + offset).text(elements.heap));
  }
  static Storage heap(std::uint64_t length) {
    Storage storage;
    storage.kind = StorageKind::kHeap;
    storage.region_length = length;
    return storage;
  }

  TemporaryFolder folder_;
  std::optional<Reader> reader_;
  VarView var_;
};

TEST_F(ExtendedElementsTest, IntegersOfBothOrders) {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    ExtendedBlock b("g");
    const Type t = b.type(integer_type(4, order));
    Bytes values;
    for (const std::uint32_t n : {1u, 0xFFFFFFFEu})
      values.put(order == ByteOrder::kBig ? __builtin_bswap32(n) : n);
    b.variable("v", t, {2}, values);
    const Elements found = read(b);
    EXPECT_EQ(type().text(), "int32");
    EXPECT_EQ(at<std::int32_t>(found, 0), 1);
    EXPECT_EQ(at<std::int32_t>(found, 4), -2);
    EXPECT_EQ(var_.stored().is_little_endian, order == ByteOrder::kLittle);
    EXPECT_EQ(var_.read<std::int64_t>(), (std::vector<std::int64_t>{1, -2}));
  }
}

TEST_F(ExtendedElementsTest, NumbersInFormsOfTheirOwn) {
  ExtendedBlock b("g");
  ExtendedType small = integer_type(2, ByteOrder::kLittle);  // 12 bits from bit 4 on
  small.precision = 12;
  small.bit_offset = 4;
  const Type t = b.type(small);
  b.variable("v", t, {2}, Bytes().put(std::uint16_t{0x7FF0}).put(std::uint16_t{0x8000}));
  const Elements found = read(b);
  EXPECT_EQ(type().text(), "int16");
  EXPECT_EQ(at<std::int16_t>(found, 0), 2047);
  EXPECT_EQ(at<std::int16_t>(found, 2), -2048);
}

TEST_F(ExtendedElementsTest, HalfFloatsKeepTheirBits) {
  ExtendedBlock b("g");
  const Type t = b.type(half_type(ByteOrder::kBig));
  b.variable("v", t, {1}, Bytes().put(std::uint16_t{0x003C}));  // 0x3C00: 1.0
  const Elements found = read(b);
  EXPECT_EQ(type().text(), "float16");
  EXPECT_EQ(at<std::uint16_t>(found, 0), 0x3C00);
}

TEST_F(ExtendedElementsTest, TextsEndInZeros) {
  for (const auto& [padding, stored] :
       {std::pair(StringPadding::kNullTerminated, std::string_view("ab\0xx", 5)),
        std::pair(StringPadding::kNullPadded, std::string_view("ab\0\0\0", 5)),
        std::pair(StringPadding::kSpacePadded, std::string_view("ab   ", 5))}) {
    ExtendedBlock b("g");
    const Type t = b.type(text(5, padding));
    b.variable("v", t, {1}, Bytes().text(stored));
    const Elements found = read(b);
    EXPECT_EQ(type().text(), "text(5)");
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(found.values.data()), 5),
              std::string("ab\0\0\0", 5));
  }
}

TEST_F(ExtendedElementsTest, Enums) {
  ExtendedBlock b("g");
  const Type base = b.type(integer_type(2, ByteOrder::kLittle));
  ExtendedType t;
  t.type_class = TypeClass::kEnum;
  t.size = 2;
  t.base = base;
  t.names = {"calm", "storm"};
  t.values = Bytes().put(std::int16_t{-1}).put(std::int16_t{700}).vector();
  t.name = "state";
  b.variable("v", b.type(t), {1}, Bytes().put(std::int16_t{700}));
  const Elements found = read(b);
  EXPECT_EQ(type().data_class, DataClass::kEnum);
  EXPECT_EQ(type().name, "state");
  EXPECT_EQ(type().enumerators, (std::vector<Enumerator>{{"calm", -1}, {"storm", 700}}));
  EXPECT_EQ(at<std::int16_t>(found, 0), 700);
}

TEST_F(ExtendedElementsTest, CompoundsKeepTheirOffsets) {
  ExtendedBlock b("g");
  const Type big = b.type(integer_type(4, ByteOrder::kBig));
  ExtendedType row;
  row.type_class = TypeClass::kArray;
  row.base = big;
  row.lengths = {2};
  row.size = 8;
  const Type array = b.type(row);
  ExtendedType t;
  t.type_class = TypeClass::kCompound;
  t.size = 24;
  t.fields = {{"n", 0, Type::kShort}, {"pair", 8, array}, {"c", 20, Type::kChar}};
  b.variable("v", b.type(t), {1},
             Bytes()
                 .put(std::uint16_t{0x0100})
                 .text("??????")
                 .put(std::uint32_t{0x02000000})
                 .put(std::uint32_t{0x03000000})
                 .text("????c???"));
  const Elements found = read(b);
  ASSERT_EQ(type().members.size(), 3u);
  EXPECT_EQ(type().size, 24u);
  EXPECT_EQ(type().members[1].offset, 8u);
  EXPECT_EQ(type().members[1].type.text(), "int32(2)");
  EXPECT_EQ(at<std::int16_t>(found, 0), 1);
  EXPECT_EQ(at<std::int32_t>(found, 8), 2);
  EXPECT_EQ(at<std::int32_t>(found, 12), 3);
  EXPECT_EQ(at<char>(found, 20), 'c');
  EXPECT_EQ(at<std::uint16_t>(found, 2), 0) << "padding has no value";
}

TEST_F(ExtendedElementsTest, StringsReferencesAndSequences) {
  ExtendedBlock b("g");
  const Type string = b.type(varying(TypeClass::kString));
  const Type reference = b.type(varying(TypeClass::kReference));
  ExtendedType region = varying(TypeClass::kReference);
  region.reference = ReferenceKind::kRegion;
  const Type to_part = b.type(region);
  const Type numbers = b.type(varying(TypeClass::kVlen, b.type(integer_type(4, ByteOrder::kBig))));
  const Type words = b.type(varying(TypeClass::kVlen, string));
  ExtendedType t;
  t.type_class = TypeClass::kCompound;
  t.size = 80;
  t.fields = {{"s", 0, string},
              {"r", 16, reference},
              {"p", 32, to_part},
              {"n", 48, numbers},
              {"w", 64, words}};
  const std::uint64_t h = 80;
  const Bytes bytes = Bytes()
                          .heap(5, h)
                          .heap(2, h + 8)
                          .heap(9, h + 16)
                          .heap(2, h + 32)
                          .heap(2, h + 40)
                          .text("hello\0\0\0" + std::string())
                          .text(std::string_view("\0\0", 0));
  Bytes region_bytes;
  for (const std::byte byte : bytes.vector()) region_bytes.put(byte);
  while (region_bytes.size() < h + 8) region_bytes.put(std::uint8_t{0});
  region_bytes.text("/x").text("......");
  region_bytes.put(std::uint32_t{2}).text("/ysel").text(".......");
  region_bytes.put(std::uint32_t{0x01000000}).put(std::uint32_t{0x02000000});
  region_bytes.heap(1, h).heap(0, 0);
  b.stored("v", b.type(t), {1}, heap(region_bytes.size()), region_bytes);
  const Elements found = read(b);
  EXPECT_TRUE(type().has_parts());
  EXPECT_EQ(part(found, 0), "hello");
  EXPECT_EQ(part(found, 16), "/x");
  EXPECT_EQ(part(found, 32), "/y");
  const VariablePart sequence = VariablePart::load(found.values.data() + 48);
  ASSERT_EQ(sequence.count, 2u);
  EXPECT_EQ(sequence.offset % 8, 0u);
  std::int32_t inside[2];
  std::memcpy(inside, found.heap.data() + sequence.offset, sizeof inside);
  EXPECT_EQ(inside[0], 1);
  EXPECT_EQ(inside[1], 2);
  const VariablePart list = VariablePart::load(found.values.data() + 64);
  ASSERT_EQ(list.count, 2u);
  EXPECT_EQ(VariablePart::load(found.heap.data() + list.offset).text(found.heap), "h");
  EXPECT_EQ(VariablePart::load(found.heap.data() + list.offset + 16).count, 0u);
  // Without room for the parts.
  std::vector<std::byte> out(found.values.size());
  EXPECT_EQ(var_.try_read_elements({{0}, {1}}, out).code(), Code::kUsage);
}

TEST_F(ExtendedElementsTest, DamagedPartsAreRefused) {
  for (const auto& [count, offset] : {std::pair(std::uint64_t{9}, std::uint64_t{16}),
                                      std::pair(std::uint64_t{1}, std::uint64_t{1000}),
                                      std::pair(~std::uint64_t{0}, std::uint64_t{16})}) {
    ExtendedBlock b("g");
    const Type string = b.type(varying(TypeClass::kString));
    b.stored("v", string, {1}, heap(24), Bytes().heap(count, offset).text("12345678"));
    write_extended(path(), {b});
    const Status status = Reader(path()).block("g").var("v").try_elements().status();
    EXPECT_EQ(status.code(), Code::kDamaged) << count << " " << offset;
    EXPECT_EQ(status.rule(), "R-XV-1");
    EXPECT_EQ(status.file(), path());
  }
}

// Would catch: types within types that take memory without end.
TEST_F(ExtendedElementsTest, TypesOfTooManyPartsAreRefused) {
  ExtendedBlock b("g");
  Type inner = Type::kByte;
  std::uint64_t size = 1;
  for (int i = 0; i < 20; ++i) {
    ExtendedType t;
    t.type_class = TypeClass::kCompound;
    t.fields = {{"a", 0, inner}, {"b", size, inner}};
    t.size = size *= 2;
    inner = b.type(t);
  }
  const std::vector<std::byte> bytes(size);
  b.variable("v", inner, {1}, bytes);
  write_extended(path(), {b});
  EXPECT_EQ(Reader(path()).block("g").var("v").try_datatype().status().code(), Code::kLimit);
}

TEST_F(ExtendedElementsTest, FillValuesThatAreSet) {
  ExtendedBlock b("g");
  const Type t = b.type(integer_type(4, ByteOrder::kLittle));
  const VarId v = b.variable("v", t, {1}, Bytes().put(std::int32_t{5}));
  hdf5::Property creation;
  creation.number = hdf5::Property::Number::kCreation;
  creation.owner = v;
  creation.creation.fill_state = hdf5::FillState::kUser;
  creation.creation.fill_value = Bytes().put(std::int32_t{-9}).vector();
  b.property(creation);
  read(b);
  const FillValue fill = var_.fill_value();
  EXPECT_EQ(fill.from, FillValue::From::kSet);
  EXPECT_EQ(at<std::int32_t>(fill.element, 0), -9);
}

}  // namespace
}  // namespace nmb::test
