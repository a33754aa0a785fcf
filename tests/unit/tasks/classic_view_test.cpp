// Blocks of kind 6 as classic datasets: the result for each type, shape and property, and the
// reported losses (docs/reference/hdf5.md, "To classic netCDF").
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "convert/convert.h"
#include "dump/dump.h"
#include "files/files.h"
#include "netcdf/netcdf_view.h"
#include "server/hdf5_filters.h"
#include "support/counting_source.h"
#include "support/extended_dataset.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

ClassicView view_of(ExtendedDataset& made, Kind target = Kind::kCdf5) {
  const Result<ClassicView> view = classic_view(made.dataset(), target);
  EXPECT_TRUE(view.ok()) << view.status().text();
  return view.ok() ? *view : ClassicView{made.dataset(), {{"none", "made"}}, {}, {}, {}, {}, {}};
}

std::string losses(const ClassicView& view) {
  std::string out;
  for (const Loss& loss : view.losses) out += loss.line() + "\n";
  return out;
}

std::string cdl(const Dataset& dataset) {
  std::string text;
  const Status status =
      write_cdl({"made", dataset.metadata, dataset.kind(), dataset.records}, dataset.layout,
                dataset.extent, std::nullopt, [&](std::string_view part) {
                  text += part;
                  return Status();
                });
  EXPECT_TRUE(status.ok()) << status.text();
  return text;
}

hdf5::Property property(hdf5::Property::Number number, VarId owner = kGlobal,
                        std::uint32_t attribute = hdf5::kNoAttribute) {
  hdf5::Property p;
  p.number = number;
  p.owner = owner;
  p.attribute = attribute;
  return p;
}

// An extent may read fill values of the definitions that it came with.
TEST(ClassicView, KeepsTheBlockThatItShows) {
  ExtendedDataset made;
  made.variable("v", made.type(little_integer(2)), {}, little<std::int16_t>({1}));
  std::shared_ptr<const Dataset> block = made.dataset();
  const std::weak_ptr<const Dataset> seen = block;
  const long others = block.use_count() - 1;
  Result<ClassicView> view = classic_view(std::move(block), Kind::kCdf5);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(seen.use_count(), others + 1);
  view->dataset.reset();
  EXPECT_EQ(seen.use_count(), others);
}

TEST(ClassicView, NumbersKeepTheirValues) {
  ExtendedDataset made;
  const Type le_short = made.type(little_integer(2)),
             le_ulong = made.type(little_integer(8, false)),
             le_float = made.type(little_float(4, 8, 23));
  const DimId x = made.dimension("x", 3);
  const VarId a = made.variable("a", le_short, {x}, little<std::int16_t>({1, -2, 300}));
  made.variable("b", Type::kInt, {}, {std::byte{0}, std::byte{0}, std::byte{1}, std::byte{2}});
  made.variable("c", le_float, {x}, little<float>({0.5F, -1, 4}));
  made.variable("d", le_ulong, {x}, little<std::uint64_t>({1, 2, ~std::uint64_t{0}}));
  made.attribute(a, "valid", le_short, 2, little<std::int16_t>({-5, 5}));
  made.attribute(kGlobal, "none", le_float, 0, {});
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view), "");
  EXPECT_EQ(cdl(*view.dataset), R"(netcdf made {
dimensions:
	x = 3 ;
variables:
	short a(x) ;
		a:valid = -5s, 5s ;
	int b ;
	float c(x) ;
	uint64 d(x) ;

// global attributes:
		:none = "" ;
data:

 a = 1, -2, 300 ;

 b = 258 ;

 c = 0.5, -1, 4 ;

 d = 1, 2, 18446744073709551615 ;
}
)");
}

TEST(ClassicView, TypesThatTheTargetDoesNotHaveBecomeOthers) {
  ExtendedDataset made;
  const Type le_uint = made.type(little_integer(4, false));
  const VarId a = made.variable("a", le_uint, {}, little<std::uint32_t>({1}));
  made.variable("b", Type::kInt, {}, ByteVector(4));
  made.attribute(1, "u", Type::kUByte, 1, ByteVector(1));
  EXPECT_EQ(losses(view_of(made)), "");
  const ClassicView view = view_of(made, Kind::kCdf2);
  EXPECT_EQ(
      losses(view),
      "variable \"a\": found type uint, expected one of CDF-2; its values are written as int\n"
      "attribute \"b:u\": found type ubyte, expected one of CDF-2; its values are written as "
      "short\n");
  EXPECT_EQ(view.dataset->metadata.variable_count(), 2u);
  EXPECT_EQ(*view.dataset->read_all<int>(0), std::vector{1});
  EXPECT_EQ(a, 0u);
}

TEST(ClassicView, TextBecomesCharacters) {
  ExtendedDataset made;
  const Type one = made.type(string_type(1)), three = made.type(string_type(3)),
             any = made.type(string_type(0));
  const DimId x = made.dimension("x", 2), taken = made.dimension("string3", 1);
  made.variable("a", one, {x}, bytes_of("ab"));
  made.variable("b", three, {x}, bytes_of("onetwo"));
  made.variable("c", Type::kChar, {taken}, bytes_of("c"));
  made.variable("d", three, {}, bytes_of("sc "));
  made.attribute(0, "letters", one, 2, bytes_of("xy"));
  made.attribute(0, "fixed", three, 1, bytes_of("abc"));
  ByteVector text = little<std::uint64_t>({4, 16});
  for (const std::byte b : bytes_of("z\xC3\xBC!")) text.push_back(b);
  made.attribute(kGlobal, "any", any, 1, text);
  made.attribute(kGlobal, "empty", any, 0, {});
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view), "");
  EXPECT_EQ(cdl(*view.dataset), R"(netcdf made {
dimensions:
	x = 2 ;
	string3 = 1 ;
	string3_2 = 3 ;
variables:
	char a(x) ;
		a:letters = "xy" ;
		a:fixed = "abc" ;
	char b(x, string3_2) ;
	char c(string3) ;
	char d(string3_2) ;

// global attributes:
		:any = "zü!" ;
		:empty = "" ;
data:

 a = "ab" ;

 b =
  "one",
  "two" ;

 c = "c" ;

 d = "sc " ;
}
)");
}

TEST(ClassicView, StringsThatAttributesCannotHold) {
  ExtendedDataset made;
  const Type any = made.type(string_type(0)), two = made.type(string_type(2));
  made.attribute(kGlobal, "null", any, 1, ByteVector(16));
  ByteVector text = little<std::uint64_t>({2, 16});
  for (const char c : {'a', '\0'}) text.push_back(static_cast<std::byte>(c));
  made.attribute(kGlobal, "nul", any, 1, text);
  made.attribute(kGlobal, "many", any, 2, ByteVector(32));
  made.attribute(kGlobal, "fixed", two, 2, ByteVector(4));
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view),
            "attribute \":null\": found a null string; written as an empty string\n"
            "attribute \":nul\": found a NUL in a string of variable length; written with all of "
            "its bytes\n"
            "attribute \":many\": found 2 strings, expected one string; left out\n"
            "attribute \":fixed\": found 2 strings, expected one string; left out\n");
  EXPECT_EQ(view.dataset->metadata.find_attribute(kGlobal, "nul")->count, 2u);
  EXPECT_EQ(view.dataset->metadata.find_attribute(kGlobal, "null")->count, 0u);
}

TEST(ClassicView, StringThatLeadsNowhereIsDamage) {
  ExtendedDataset made;
  const Type any = made.type(string_type(0));
  made.attribute(kGlobal, "bad", any, 1, little<std::uint64_t>({1, 99}));
  const Result<ClassicView> view = classic_view(made.dataset(), Kind::kCdf5);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.status().code(), Code::kDamaged);
  EXPECT_EQ(view.status().rule(), "R-XV-1");
  EXPECT_NE(view.status().text().find("\":bad\""), std::string::npos) << view.status().text();
}

ExtendedType enum_of(Type base, const ByteVector& values) {
  ExtendedType t = type_on(TypeClass::kEnum, base);
  t.size = values.size() / 2;
  t.names = {"off", "on"};
  t.values = values;
  return t;
}

TEST(ClassicView, NumbersOfOtherTypesAreWrittenAsWiderOnes) {
  ExtendedDataset made;
  const Type le_int = made.type(little_integer(4));
  const Type from_le = made.type(enum_of(le_int, little<std::int32_t>({0, 1}))),
             from_classic = made.type(enum_of(Type::kByte, ByteVector(2))),
             half = made.type(little_float(2, 5, 10)), brain = made.type(little_float(2, 8, 7));
  ExtendedType t = little_integer(4);
  t.precision = 24;
  t.bit_offset = 4;
  const Type padded = made.type(t);
  t = little_integer(3, false);
  t.order = ByteOrder::kBig;
  const Type three = made.type(t);
  const DimId x = made.dimension("x", 3), y = made.dimension("y", 6);
  const VarId e = made.variable("e", from_le, {x}, little<std::int32_t>({0, 1, -7}));
  made.variable("f", from_classic, {x}, bytes_of("\1\2\3"));
  made.variable("h", half, {y},
                little<std::uint16_t>({0x3C00, 0xC000, 0x0001, 0x7C00, 0xFBFF, 0x8000}));
  made.variable("b", brain, {x}, little<std::uint16_t>({0x3F80, 0xC040, 0x0001}));
  made.variable("p", padded, {x}, little<std::uint32_t>({0xF0000010, 0x0FFFFFFF, 0x08000000}));
  made.variable("t", three, {x}, bytes_of(std::string("\0\0\1\0\1\0\xFF\xFF\xFF", 9)));
  made.attribute(e, "_FillValue", from_le, 1, little<std::int32_t>({-1}));
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view),
            "variable \"e\": found type enum int, expected one of CDF-5; its values are written as "
            "int\n"
            "variable \"f\": found type enum byte, expected one of CDF-5; its values are written "
            "as byte\n"
            "variable \"h\": found type float16_le, expected one of CDF-5; its values are written "
            "as float\n"
            "variable \"b\": found type float16_le, expected one of CDF-5; its values are written "
            "as float\n"
            "variable \"p\": found type int32_le, expected one of CDF-5; its values are written as "
            "int\n"
            "variable \"t\": found type uint24_be, expected one of CDF-5; its values are written "
            "as uint\n"
            "attribute \"e:_FillValue\": found type enum int, expected one of CDF-5; its values "
            "are written as int\n");
  const Dataset& d = *view.dataset;
  EXPECT_EQ(*d.read_all<std::int32_t>(0), (std::vector<std::int32_t>{0, 1, -7}));
  EXPECT_EQ(*d.read_all<std::int32_t>(1), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(
      *d.read_all<float>(2),
      (std::vector<float>{1, -2, 0x1p-24F, std::numeric_limits<float>::infinity(), -65504, -0.0F}));
  EXPECT_EQ(*d.read_all<float>(3), (std::vector<float>{1, -3, 0x1p-133F}));
  EXPECT_EQ(*d.read_all<std::int32_t>(4), (std::vector<std::int32_t>{1, -1, -0x800000}));
  EXPECT_EQ(*d.read_all<std::uint32_t>(5), (std::vector<std::uint32_t>{1, 256, 0xFFFFFF}));
  EXPECT_EQ(d.metadata.find_attribute(0, "_FillValue")->values[3], std::byte{0xFF});
}

TEST(ClassicView, TypesWithoutNumbersOrTextAreLeftOut) {
  ExtendedDataset made;
  std::string expected;
  const auto lost = [&](const char* name, ExtendedType t, const char* found) {
    const Type type = made.type(std::move(t));
    made.stored(name, type, {}, {}, ByteVector(32));
    expected += "variable \"" + std::string(name) + "\": found type " + found +
                ", expected one of CDF-5; left out\n";
  };
  lost("string", string_type(0), "string");
  lost("reference", type_on(TypeClass::kReference, Type::kByte), "reference");
  lost("sequence", type_on(TypeClass::kVlen, Type::kInt), "int(*)");
  ExtendedType t;
  t.type_class = TypeClass::kCompound;
  t.size = 8;
  t.fields = {{"a", 0, Type::kInt}};
  lost("compound", t, "compound{a}");
  t = type_on(TypeClass::kArray, Type::kInt);
  t.lengths = {2};
  t.size = 8;
  lost("array", t, "int(2)");
  t = little_integer(4);
  for (const auto& [type_class, name, found] :
       {std::tuple(TypeClass::kBitfield, "bits", "bitfield32_le"),
        std::tuple(TypeClass::kTime, "time", "time32_le"),
        std::tuple(TypeClass::kOpaque, "opaque", "opaque(4)")}) {
    t.type_class = type_class;
    lost(name, t, found);
  }
  lost("wide", little_integer(16), "int128_le");
  lost("long", little_float(16, 15, 64), "float128_le");
  t = little_float(4, 8, 23);
  t.order = ByteOrder::kVax;
  lost("vax", t, "float32_be");
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view), expected);
  EXPECT_EQ(view.dataset->metadata.variable_count(), 0u);
}

TEST(ClassicView, OneDimensionGrows) {
  ExtendedDataset made;
  const DimId inner = made.dimension("inner", 2, true), time = made.dimension("time", 3, true),
              other = made.dimension("other", 1, true), none = made.dimension("none", 0),
              later = made.dimension("later", 0, true);
  made.variable("a", Type::kByte, {time, inner}, bytes_of("\1\2\3\4\5\6"));
  made.variable("b", Type::kShort, {time}, bytes_of("\1\2\1\3\1\4"));
  made.variable("c", Type::kByte, {other}, bytes_of("\7"));
  made.variable("d", Type::kByte, {none}, {});
  made.variable("e", Type::kByte, {later, inner}, {});
  const ClassicView view = view_of(made);
  EXPECT_EQ(
      losses(view),
      "dimension \"inner\": found an unlimited dimension that is not always the slowest, expected "
      "only one, which is always the slowest; its length is now fixed\n"
      "dimension \"other\": found a second unlimited dimension, expected only one, which is always "
      "the slowest; its length is now fixed\n"
      "dimension \"none\": found the length 0 of a dimension that is not the record dimension; "
      "left out\n"
      "dimension \"later\": found the length 0 of a dimension that is not the record dimension, "
      "although it is unlimited; left out\n"
      "variable \"d\": found dimension \"none\", which classic netCDF cannot have; left out\n"
      "variable \"e\": found dimension \"later\", which classic netCDF cannot have; left out\n");
  EXPECT_EQ(view.dataset->records, 3u);
  EXPECT_EQ(cdl(*view.dataset), R"(netcdf made {
dimensions:
	inner = 2 ;
	time = UNLIMITED ; // (3 currently)
	other = 1 ;
variables:
	byte a(time, inner) ;
	short b(time) ;
	byte c(other) ;
data:

 a =
  1, 2,
  3, 4,
  5, 6 ;

 b = 258, 259, 260 ;

 c = 7 ;
}
)");
}

TEST(ClassicView, RecordsThatLieBetweenOthers) {
  ExtendedDataset made;
  const Type le_short = made.type(little_integer(2));
  const Type named = made.type(enum_of(le_short, little<std::int16_t>({0, 1})));
  const DimId time = made.dimension("time", kUnlimited, true);
  made.variable("a", Type::kByte, {time}, bytes_of(std::string("\1\0\0\0\2\1\0\0", 8)));
  made.variable("b", named, {time}, bytes_of(std::string("\2\0\0\0\4\1\0\0", 8)));
  made.set_records(2, 4, 0);
  const ClassicView view = view_of(made);
  EXPECT_EQ(*view.dataset->read_all<std::int32_t>(0), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(*view.dataset->read_all<std::int32_t>(1), (std::vector<std::int32_t>{2, 260}));
}

// Chunks of two rows and one column, the last of them never written.
TEST(ClassicView, ChunksAreReadOnce) {
  constexpr std::uint64_t kRecords = 512, kColumns = 64, kRowsOfChunk = 8;
  ExtendedDataset made;
  const Type le_int = made.type(little_integer(4));
  const DimId time = made.dimension("time", kRecords, true), x = made.dimension("x", kColumns);
  for (const char* name : {"a", "b"}) {
    std::vector<std::uint64_t> table;
    const std::uint64_t chunks = kRecords / kRowsOfChunk * kColumns, bytes = kRowsOfChunk * 4;
    std::vector<std::int32_t> values(kRecords * kColumns);
    std::iota(values.begin(), values.end(), std::int32_t{name[0]});
    ByteVector stored;
    for (std::uint64_t c = 0; c < chunks; ++c) {
      table.insert(table.end(), {chunks * ChunkRow::kLength + c * bytes, bytes, 0});
      for (std::uint64_t r = 0; r < kRowsOfChunk; ++r) {
        const std::uint64_t row = c / kColumns * kRowsOfChunk + r;
        const ByteVector value = little<std::int32_t>({values[row * kColumns + c % kColumns]});
        stored.insert(stored.end(), value.begin(), value.end());
      }
    }
    ByteVector region = little(table);
    region.insert(region.end(), stored.begin(), stored.end());
    Storage storage;
    storage.kind = StorageKind::kChunked;
    storage.chunk = {kRowsOfChunk, 1};
    made.stored(name, le_int, {time, x}, std::move(storage), region);
  }
  const MemorySource extent(made.extent(), "made.nmb");
  const auto counted = std::make_shared<CountingSource>(extent);
  const Result<ClassicView> view = classic_view(made.dataset(counted), Kind::kCdf5);
  ASSERT_TRUE(view.ok()) << view.status().text();
  EXPECT_EQ(counted->reads(), 0u);
  const ByteSource& values = *view->dataset->extent;
  ByteVector out(values.size());
  constexpr std::uint64_t kPart = 1000;
  for (std::uint64_t at = 0; at < out.size(); at += kPart) {
    const Status status =
        values.read_at(at, std::span(out).subspan(at, std::min(kPart, out.size() - at)));
    ASSERT_TRUE(status.ok()) << status.text();
  }
  EXPECT_EQ(counted->bytes(), made.extent().size());
  const std::vector<std::int32_t> b = *view->dataset->read_all<std::int32_t>(1);
  for (std::size_t i = 0; i < b.size(); ++i) ASSERT_EQ(b[i], static_cast<int>(i) + 'b');
}

TEST(ClassicView, VariablesShorterThanTheirDimensionEndWithTheFillValue) {
  ExtendedDataset made;
  const DimId time = made.dimension("time", 3, true), time_2 = made.dimension("time_2", 1, true),
              time_3 = made.dimension("time_3", 0, true), x = made.dimension("x", 2);
  const VarId a = made.variable("a", Type::kByte, {time, x}, bytes_of("\1\2\3\4\5\6"));
  const VarId b = made.variable("b", Type::kByte, {time_2, x}, bytes_of("\7\10"));
  const VarId c = made.unwritten("c", Type::kInt, {time_3});
  for (const VarId v : {a, b}) made.ints(v, "_Netcdf4Coordinates", {0, 1});
  made.ints(c, "_Netcdf4Coordinates", {0});
  hdf5::Property creation = property(hdf5::Property::Number::kCreation, b);
  creation.creation.fill_state = hdf5::FillState::kUser;
  creation.creation.fill_value = {std::byte{9}};
  made.property(creation);
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view), "");
  EXPECT_EQ(*view.dataset->read_all<std::int8_t>(1), (std::vector<std::int8_t>{7, 8, 9, 9, 9, 9}));
  EXPECT_EQ(*view.dataset->read_all<std::int32_t>(2),
            (std::vector<std::int32_t>{-2147483647, -2147483647, -2147483647}));
}

TEST(ClassicView, BooksOfNetcdfAreNoLoss) {
  ExtendedDataset made;
  const DimId x = made.dimension("x", 2), u = made.dimension("u", 0, true);
  const char* no_variable = "This is a netCDF dimension but not a netCDF variable.         2";
  made.scale(made.unwritten("x", Type::kFloat, {x}), no_variable, 1);
  made.scale(made.unwritten("u", Type::kFloat, {u}), no_variable, 0);
  const VarId v = made.variable("_nc4_non_coord_x", Type::kByte, {x}, bytes_of("\1\2"));
  made.scales(v, {"/x"});
  made.text(kGlobal, "_NCProperties", "version=2");
  made.attribute(v, "empty", made.type(little_integer(4)), 0, {});
  hdf5::Property space = property(hdf5::Property::Number::kSpace, v, 1);
  space.space.space_class = hdf5::SpaceClass::kNull;
  made.property(space);
  const ClassicView view = view_of(made);
  EXPECT_EQ(losses(view), "");
  EXPECT_EQ(cdl(*view.dataset), R"(netcdf made {
dimensions:
	u = UNLIMITED ; // (0 currently)
	x = 2 ;
variables:
	byte x(x) ;
		x:empty = "" ;
data:

 x = 1, 2 ;
}
)");
}

// Would catch: one value, zero, of a variable that has none.
TEST(ClassicView, AVariableWithANullDataspaceCannotBeRead) {
  ExtendedDataset made;
  const VarId none = made.unwritten("none", Type::kInt, {});
  const VarId one = made.unwritten("one", Type::kInt, {});
  hdf5::Property space = property(hdf5::Property::Number::kSpace, none);
  space.space.space_class = hdf5::SpaceClass::kNull;
  made.property(space);
  const auto dataset = made.dataset();
  const Status status = dataset->read_all<int>(none).status();
  EXPECT_EQ(status.code(), Code::kUsage);
  EXPECT_EQ(status.message(), "variable none has no values: its dataspace in HDF5 is null");
  EXPECT_EQ(dataset->read_all<int>(one)->size(), 1U);
}

TEST(ClassicView, WhatHdf5HasBesideVariablesIsTold) {
  using Number = hdf5::Property::Number;
  ExtendedDataset made;
  const DimId x = made.dimension("x", 2);
  made.variable("v", Type::kByte, {x}, bytes_of("\1\2"));
  made.unwritten("null", Type::kByte, {});
  made.unwritten("far", Type::kByte, {x});
  made.unwritten("mapped", Type::kByte, {x});
  Storage packed;
  packed.kind = StorageKind::kChunked;
  packed.chunk = {2};
  packed.filters = {{405, 0, "nobody's", {}}};
  made.stored("packed", Type::kByte, {x}, packed, ByteVector(24));
  made.unwritten("tab\there", Type::kByte, {x});
  made.attribute(kGlobal, "a/b", Type::kByte, 1, ByteVector(1));
  made.attribute(kGlobal, "square", Type::kByte, 4, ByteVector(4));
  made.attribute(kGlobal, "null", Type::kByte, 0, {});

  hdf5::Property p = property(Number::kLinks);
  using hdf5::LinkKind;
  p.links = {{LinkKind::kVariable, CharacterSet::kAscii, 0, "", ""},
             {LinkKind::kGroup, CharacterSet::kAscii, 0, "g", ""},
             {LinkKind::kType, CharacterSet::kAscii, 256, "t", ""},
             {LinkKind::kSoft, CharacterSet::kAscii, 0, "s", "/v"},
             {LinkKind::kExternal, CharacterSet::kAscii, 0, "e", std::string("f\0/v", 4)},
             {LinkKind::kHard, CharacterSet::kAscii, 0, "h", "/v"},
             {LinkKind::kUserDefined, CharacterSet::kAscii, 187, "u", ""}};
  made.property(p);
  p = property(Number::kUserBlock);
  p.bytes = ByteVector(512);
  made.property(p);
  p = property(Number::kComment);
  p.bytes = bytes_of("words");
  made.property(p);
  p = property(Number::kSpace, kGlobal, 1);
  p.space = {hdf5::SpaceClass::kSimple, {2, 2}, {2, 2}};
  made.property(p);
  p = property(Number::kSpace, kGlobal, 2);
  p.space.space_class = hdf5::SpaceClass::kNull;
  made.property(p);
  p = property(Number::kSpace, 0);
  p.space = {hdf5::SpaceClass::kSimple, {2}, {50}};
  made.property(p);
  p = property(Number::kComment, 0);
  made.property(p);
  p = property(Number::kSpace, 1);
  p.space.space_class = hdf5::SpaceClass::kNull;
  made.property(p);
  p = property(Number::kExternalFiles, 2);
  made.property(p);
  p = property(Number::kVirtual, 3);
  made.property(p);
  const ClassicView view = view_of(made);
  EXPECT_EQ(
      losses(view),
      "type \"t\": found a named datatype; left out\n"
      "link \"s\": found a soft link to \"/v\"; left out\n"
      "link \"e\": found a link to another file; left out\n"
      "link \"h\": found a hard link to \"/v\"; left out\n"
      "link \"u\": found a link of class 187; left out\n"
      "group: found a user block of 512 bytes; left out\n"
      "group: found a comment; left out\n"
      "variable \"v\": found a comment; left out\n"
      "variable \"v\": found a dimension with the maximum length 50; its length is now fixed at 2\n"
      "variable \"null\": found a null dataspace instead of values; left out\n"
      "variable \"far\": found values that are stored in other files "
      "(external \"any\" reads those of an HDF5 file); left out\n"
      "variable \"mapped\": found values that are stored in other files "
      "(external \"any\" reads those of an HDF5 file); left out\n"
      "variable \"packed\": found chunks with filter 405 (nobody's), which NMB does not decode: " +
          hdf5::can_undo_filter(405).message() +
          "; left out\n"
          "variable \"tab\there\": found a name that is not allowed in classic netCDF; left out\n"
          "attribute \":a/b\": found a name that is not allowed in classic netCDF; left out\n"
          "attribute \":square\": found 2 dimensions; written as a list of 4 values\n"
          "attribute \":null\": found a null dataspace; the attribute is written without values\n");
  EXPECT_EQ(view.dataset->metadata.variable_count(), 1u);
}

TEST(ClassicView, NamesThatNetcdfDoesNotAllow) {
  ExtendedDataset made;
  for (const char* name : {" a", "a ", ".a", "-", "a\x7F", "\xFF", "a b", "_a", "1", "\xC3\xBC"})
    made.attribute(kGlobal, name, Type::kByte, 1, ByteVector(1));
  const ClassicView view = view_of(made);
  EXPECT_EQ(view.losses.size(), 6u) << losses(view);
  EXPECT_EQ(view.dataset->metadata.attribute_count(), 4u);
}

TEST(ClassicView, DamagedChunkIsNamed) {
  ExtendedDataset made;
  Storage storage;
  storage.kind = StorageKind::kChunked;
  storage.chunk = {2};
  made.stored("v", Type::kByte, {made.dimension("x", 2)}, storage,
              little<std::uint64_t>({99, 2, 0, 0}));
  const ClassicView view = view_of(made);
  ByteVector out(2);
  const Status status = view.dataset->extent->read_at(0, out);
  EXPECT_EQ(status.rule(), "R-XC-1");
  EXPECT_EQ(status.message().find("variable \"v\": chunk 0"), 0u) << status.text();
}

TEST(ClassicView, DamagedSectionIsTold) {
  ExtendedDataset made;
  made.property(property(hdf5::Property::Number::kOrder));
  auto dataset = std::make_shared<Dataset>(*made.dataset());
  auto extension = std::make_shared<Extension>(*dataset->metadata.extension());
  extension->hdf5.pop_back();
  dataset->metadata.set_extension(extension);
  const Result<ClassicView> view = classic_view(dataset, Kind::kCdf5);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.status().rule(), "R-H5-1");
}

TEST(ClassicView, ValuesBeyondTheExtentAreDamage) {
  ExtendedDataset made;
  made.variable("v", Type::kInt, {made.dimension("x", 1000)}, ByteVector(8));
  const Result<ClassicView> view = classic_view(made.dataset(), Kind::kCdf5);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.status().code(), Code::kDamaged);
}

// Lengths whose product is too large, by a dimension that is longer in another variable.
TEST(ClassicView, HugeShapesAreRefused) {
  ExtendedDataset made;
  const DimId large = made.dimension("t", std::uint64_t{1} << 40, true),
              small = made.dimension("t_2", 1, true);
  const VarId a = made.unwritten("a", Type::kByte, {large}),
              b = made.variable("b", Type::kByte, {small, small}, ByteVector(1));
  made.ints(a, "_Netcdf4Coordinates", {0});
  made.ints(b, "_Netcdf4Coordinates", {0, 0});
  const Result<ClassicView> view = classic_view(made.dataset(), Kind::kCdf5);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.status().code(), Code::kLimit);
}

TEST(ClassicView, IsWrittenAsAnyClassicKind) {
  const TemporaryFolder folder;
  for (const Kind kind : {Kind::kCdf1, Kind::kCdf2, Kind::kCdf5}) {
    ExtendedDataset made;
    const Type le_short = made.type(little_integer(2));
    const DimId t = made.dimension("t", 3, true), x = made.dimension("x", 2);
    made.variable("a", le_short, {t, x}, little<std::int16_t>({1, 2, 3, 4, 5, 6}));
    made.variable("fixed", le_short, {x}, little<std::int16_t>({7, 8}));
    made.variable("b", Type::kByte, {t}, bytes_of("\1\2\3"));
    const ClassicView view = view_of(made, kind);
    const std::string path =
        (folder.path() / ("f" + std::to_string(static_cast<int>(kind)))).string();
    ExtractOptions options;
    options.sync = false;
    options.threads = 2;
    const Status written = write_classic(*view.dataset, kind, path, options);
    ASSERT_TRUE(written.ok()) << written.text();
    auto file = FileSource::open(path);
    ASSERT_TRUE(file.ok()) << file.status().text();
    const auto dataset = open_classic(std::move(*file));
    ASSERT_TRUE(dataset.ok()) << dataset.status().text();
    EXPECT_EQ((*dataset)->kind(), kind);
    EXPECT_EQ(cdl(**dataset), cdl(*view.dataset));
  }
}

TEST(ClassicView, ClassicDatasetStaysAsItIs) {
  auto dataset = std::make_shared<Dataset>();
  dataset->extent = owned_bytes(ByteVector(), "f.nc");
  const Result<ClassicView> view = classic_view(dataset, Kind::kCdf1);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->dataset, dataset);
}

template <class T>
ByteVector external(const std::vector<T>& values, Type type) {
  ByteVector out(values.size() * type_size(type));
  EXPECT_EQ(
      convert_to_external(memory_type_of<T>(), values.data(), values.size(), type, out.data()), 0u);
  return out;
}

// Variables of a classic dataset along a dimension of 3, each with its values and attributes.
class Integers {
 public:
  Integers() { three_ = *made_.def_dim("three", 3); }

  template <class T>
  void add(std::string_view name, Type type, const std::vector<T>& values) {
    const VarId id = *made_.def_var(name, type, std::vector{three_});
    ASSERT_EQ(id, values_.size());
    values_.push_back(external(values, type));
  }
  template <class T>
  void attribute(VarId owner, std::string_view name, Type type, const std::vector<T>& values) {
    ASSERT_TRUE(made_.put_att(owner, name, type, external(values, type)).ok());
  }
  ClassicView view(Kind target) {
    auto dataset = std::make_shared<Dataset>();
    dataset->metadata = std::move(made_);
    dataset->layout = *layout_classic(dataset->metadata, Kind::kCdf5);
    ByteVector extent(dataset->layout.fixed_end - dataset->layout.header_length);
    for (VarId v = 0; v < values_.size(); ++v)
      std::ranges::copy(values_[v],
                        extent.begin() + static_cast<std::ptrdiff_t>(dataset->shape(v)->begin));
    dataset->extent = owned_bytes(std::move(extent), "f.nc");
    const Result<ClassicView> view = classic_view(dataset, target);
    EXPECT_TRUE(view.ok()) << view.status().text();
    return *view;
  }

 private:
  Metadata made_;
  DimId three_;
  std::vector<ByteVector> values_;
};

TEST(ClassicView, IntegersBecomeTheNarrowestTypeThatHoldsThem) {
  constexpr std::int64_t kIntMost = 2147483647, kExact = std::int64_t{1} << 53;
  for (const Kind target : {Kind::kCdf1, Kind::kCdf2}) {
    Integers made;
    made.add<int>("b", Type::kUByte, {0, 128, 255});
    made.add<int>("s", Type::kUShort, {0, 1, 65534});
    made.add<std::int64_t>("i", Type::kInt64, {-kIntMost - 1, 0, kIntMost});
    made.add<std::int64_t>("u", Type::kUInt, {0, 7, kIntMost});
    made.add<std::int64_t>("wide", Type::kUInt, {0, 7, kIntMost + 1});
    made.add<std::int64_t>("exact", Type::kInt64, {-kExact, kExact, std::int64_t{1} << 62});
    made.add<std::int64_t>("inexact", Type::kInt64, {0, 0, kExact + 1});
    made.add<std::uint64_t>("huge", Type::kUInt64, {std::uint64_t{1} << 63, 1, 2});
    made.add<int>("kept", Type::kShort, {-1, 0, 1});
    const ClassicView view = made.view(target);
    const std::string kind = " expected one of CDF-" + std::to_string(static_cast<int>(target));
    const std::string held = kind + "; its values are written as ";
    EXPECT_EQ(losses(view),
              "variable \"b\": found type ubyte," + held + "short\n" +
                  "variable \"s\": found type ushort," + held + "int\n" +
                  "variable \"i\": found type int64," + held + "int\n" +
                  "variable \"u\": found type uint," + held + "int\n" +
                  "variable \"wide\": found type uint," + held + "double\n" +
                  "variable \"exact\": found type int64," + held + "double\n" +
                  "variable \"inexact\": found type int64," + kind +
                  ", and values that int and double cannot represent exactly; left out\n" +
                  "variable \"huge\": found type uint64," + held + "double\n");
    EXPECT_EQ(view.left_out, std::vector<VarId>{6});
    const Dataset& d = *view.dataset;
    ASSERT_EQ(d.metadata.variable_count(), 8u);
    EXPECT_EQ(*d.read_all<int>(0), (std::vector{0, 128, 255}));
    EXPECT_EQ(*d.read_all<int>(1), (std::vector{0, 1, 65534}));
    EXPECT_EQ(*d.read_all<std::int64_t>(2), (std::vector{-kIntMost - 1, std::int64_t{}, kIntMost}));
    EXPECT_EQ(*d.read_all<double>(4), (std::vector{0., 7., 2147483648.}));
    EXPECT_EQ(*d.read_all<double>(5), (std::vector{-0x1p53, 0x1p53, 0x1p62}));
    EXPECT_EQ(*d.read_all<double>(6), (std::vector{0x1p63, 1., 2.}));
    EXPECT_EQ(*d.read_all<int>(7), (std::vector{-1, 0, 1}));
  }
}

TEST(ClassicView, FillValuesStayFillValues) {
  constexpr std::int64_t kDefault = -9223372036854775806, kIntDefault = -2147483647;
  Integers made;
  made.add<std::int64_t>("never", Type::kInt64, {1, kDefault, 3});
  made.add<std::int64_t>("number", Type::kInt64, {1, kIntDefault, 3});
  made.add<std::int64_t>("own", Type::kInt64, {1, -1, 3});
  made.attribute<std::int64_t>(2, "_FillValue", Type::kInt64, {std::int64_t{1} << 40});
  made.attribute<std::int64_t>(2, "valid_min", Type::kInt64, {-5});
  made.add<std::int64_t>("lost", Type::kInt64, {1, -1, 3});
  made.attribute<std::int64_t>(3, "_FillValue", Type::kInt64, {kDefault});
  made.attribute<std::int64_t>(3, "comment", Type::kInt64, {kDefault});
  made.attribute<std::int64_t>(3, "flags", Type::kUByte, {1, 200});
  const ClassicView view = made.view(Kind::kCdf1);
  const Dataset& d = *view.dataset;
  EXPECT_EQ(*d.read_all<std::int64_t>(0), (std::vector<std::int64_t>{1, kIntDefault, 3}));
  EXPECT_EQ(d.metadata.variable(0).type, Type::kInt);
  EXPECT_EQ(d.metadata.variable(1).type, Type::kDouble) << "int would make it a fill value";
  EXPECT_EQ(d.metadata.variable(2).type, Type::kDouble) << "holds the fill value too";
  EXPECT_EQ(d.metadata.find_attribute(2, "_FillValue")->type, Type::kDouble);
  EXPECT_EQ(d.metadata.find_attribute(2, "valid_min")->type, Type::kDouble);
  EXPECT_EQ(d.metadata.variable(3).type, Type::kInt);
  EXPECT_FALSE(d.metadata.find_attribute(3, "_FillValue"));
  EXPECT_FALSE(d.metadata.find_attribute(3, "comment"));
  EXPECT_EQ(d.metadata.find_attribute(3, "flags")->type, Type::kShort);
  EXPECT_EQ(view.losses.size(), 9u) << losses(view);
}

}  // namespace
}  // namespace nmb::test
