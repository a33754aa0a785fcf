// nmb-hdf5 export: blocks of kind 6 made by hand, read back through HDF5's C interface.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstring>
#include <span>

#include "extended_file.h"
#include "handle.h"
#include "server/hdf5_stream.h"
#include "support/corpus.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

using hdf5::Link;
using hdf5::LinkKind;
using hdf5::Property;

ExtendedType integer(std::uint64_t size, ByteOrder order = ByteOrder::kLittle) {
  ExtendedType t;
  t.size = size;
  t.order = order;
  t.is_signed = true;
  t.precision = static_cast<std::uint32_t>(size * 8);
  return t;
}
ExtendedType text_type() {
  ExtendedType t;
  t.type_class = TypeClass::kString;
  t.size = TypeTable::kHeapValue;
  t.variable_length = true;
  t.character_set = CharacterSet::kUtf8;
  return t;
}
ExtendedType sequence_of(Type base) {
  ExtendedType t;
  t.type_class = TypeClass::kVlen;
  t.size = TypeTable::kHeapValue;
  t.base = base;
  return t;
}
ExtendedType compound(std::uint64_t size, std::vector<ExtendedType::Field> fields) {
  ExtendedType t;
  t.type_class = TypeClass::kCompound;
  t.size = size;
  t.fields = std::move(fields);
  return t;
}
ExtendedType reference(ReferenceKind kind) {
  ExtendedType t;
  t.type_class = TypeClass::kReference;
  t.size = TypeTable::kHeapValue;
  t.reference = kind;
  return t;
}
Storage heap_storage() { return {}; }
Property property_of(Property::Number number, std::uint32_t owner = kGlobal) {
  Property p;
  p.number = number;
  p.owner = owner;
  return p;
}
Link link(LinkKind kind, std::string name, std::string content = {}, std::uint32_t number = 0) {
  Link l;
  l.kind = kind;
  l.name = std::move(name);
  l.content = std::move(content);
  l.number = number;
  return l;
}

class ExportTest : public testing::Test {
 protected:
  ExportTest() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }
  ~ExportTest() override {
    if (file_ >= 0) H5Fclose(file_);
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  ProgramResult run_export(const std::vector<ExtendedBlock>& blocks) {
    write_extended(path("a.nmb"), blocks);
    return run(shell_quoted(NMB_HDF5) + " export " + shell_quoted(path("a.nmb")) + " " +
               shell_quoted(path("a.h5")) + " 0 0 0 '' 2");
  }
  // Exports and opens what came of it.
  void open(const std::vector<ExtendedBlock>& blocks) {
    const ProgramResult result = run_export(blocks);
    ASSERT_EQ(result.exit_code, 0) << result.output;
    hid_t fapl = hdf5::file_access();
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
    file_ = H5Fopen(path("a.h5").c_str(), H5F_ACC_RDONLY, fapl);
    H5Pclose(fapl);
    ASSERT_GE(file_, 0);
  }
  // Refused with a failure of this code, whose text has `message`; nothing is left.
  void expect_refused(const std::vector<ExtendedBlock>& blocks, Code code,
                      const std::string& message) {
    const ProgramResult result = run_export(blocks);
    EXPECT_EQ(result.exit_code, 1);
    constexpr std::size_t kHead = 16;
    const auto sent = std::as_bytes(std::span(result.output));
    ASSERT_GT(sent.size(), kHead);
    const Status failure = hdf5::decode_failure(sent.subspan(kHead));
    EXPECT_EQ(failure.code(), code) << failure.text();
    EXPECT_NE(failure.text().find(message), std::string::npos) << failure.text();
    EXPECT_FALSE(std::filesystem::exists(path("a.h5")));
  }
  hid_t data_set(const char* name) {
    const hid_t id = H5Dopen2(file_, name, H5P_DEFAULT);
    EXPECT_GE(id, 0) << name;
    return id;
  }
  hid_t type_of(const char* name) { return H5Dget_type(data_set(name)); }

  TemporaryFolder folder_;
  hid_t file_ = H5I_INVALID_HID;
};

TEST_F(ExportTest, ClassicTypesAreBigEndian) {
  ExtendedBlock block("");
  block.variable("i", Type::kInt, {2}, Bytes().text(std::string("\0\0\0\1\0\0\1\0", 8)));
  block.variable("c", Type::kChar, {3}, Bytes().text("abc"));
  block.attribute(kGlobal, "d", Type::kDouble, 1,
                  Bytes().text(std::string("\x40\0\0\0\0\0\0\0", 8)));
  open({block});
  EXPECT_GT(H5Tequal(type_of("i"), H5T_STD_I32BE), 0);
  EXPECT_GT(H5Tequal(type_of("c"), H5T_C_S1), 0);
  int values[2];
  ASSERT_GE(H5Dread(data_set("i"), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 256);
  const hid_t attribute = H5Aopen(file_, "d", H5P_DEFAULT);
  double value = 0;
  ASSERT_GE(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), 0);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(H5Sget_simple_extent_type(H5Aget_space(attribute)), H5S_SCALAR);
}

TEST_F(ExportTest, NumbersKeepTheirBits) {
  ExtendedBlock block("");
  ExtendedType odd = integer(4, ByteOrder::kBig);
  odd.precision = 11;
  odd.bit_offset = 3;
  odd.is_signed = false;
  odd.low_padding = BitPadding::kOne;
  ExtendedType half;  // IEEE binary16
  half.type_class = TypeClass::kFloat;
  half.size = 2;
  half.precision = 16;
  half.sign_position = 15;
  half.exponent_position = 10;
  half.exponent_size = 5;
  half.mantissa_size = 10;
  half.exponent_bias = 15;
  half.normalization = Normalization::kImplied;
  ExtendedType shifted = half;  // bfloat-like, in the middle of 4 bytes
  shifted.size = 4;
  shifted.bit_offset = 8;
  shifted.sign_position = 23;
  shifted.exponent_position = 15;
  shifted.exponent_size = 8;
  shifted.mantissa_position = 8;
  shifted.mantissa_size = 7;
  shifted.exponent_bias = 127;
  shifted.inner_padding = BitPadding::kOne;
  ExtendedType bits = integer(2);
  bits.type_class = TypeClass::kBitfield;
  bits.is_signed = false;
  ExtendedType time = bits;
  time.type_class = TypeClass::kTime;
  time.size = 8;
  time.precision = 64;
  const Type codes[] = {block.type(odd), block.type(half), block.type(shifted), block.type(bits),
                        block.type(time)};
  block.variable("odd", codes[0], {}, Bytes().put(std::uint32_t{0x12345678}));
  block.variable("half", codes[1], {}, Bytes().put(std::uint16_t{0x3c00}));
  block.variable("shifted", codes[2], {}, Bytes().put(std::uint32_t{0x003f8000}));
  block.variable("bits", codes[3], {}, Bytes().put(std::uint16_t{0x1234}));
  block.variable("time", codes[4], {}, Bytes().put(std::uint64_t{77}));
  open({block});
  const hid_t type = type_of("odd");
  EXPECT_EQ(H5Tget_precision(type), 11u);
  EXPECT_EQ(H5Tget_offset(type), 3);
  EXPECT_EQ(H5Tget_order(type), H5T_ORDER_BE);
  EXPECT_EQ(H5Tget_sign(type), H5T_SGN_NONE);
  H5T_pad_t low, high;
  H5Tget_pad(type, &low, &high);
  EXPECT_EQ(low, H5T_PAD_ONE);
  EXPECT_EQ(high, H5T_PAD_ZERO);
  std::uint32_t raw = 0;
  ASSERT_GE(H5Dread(data_set("odd"), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &raw), 0);
  EXPECT_EQ(raw, 0x12345678u);
  for (const char* name : {"half", "shifted"}) {
    float value = 0;
    ASSERT_GE(H5Dread(data_set(name), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), 0);
    EXPECT_EQ(value, 1) << name;
  }
  EXPECT_GT(H5Tequal(type_of("bits"), H5T_STD_B16LE), 0);
  EXPECT_GT(H5Tequal(type_of("time"), H5T_UNIX_D64LE), 0);
}

TEST_F(ExportTest, PaddingThatHdf5HasNoBitsFor) {
  ExtendedBlock block("");
  ExtendedType odd = integer(4);
  odd.precision = 11;
  odd.high_padding = BitPadding::kBackground;
  const Type type = block.type(odd);
  block.variable("odd", type, {}, Bytes().put(std::uint32_t{0}));
  expect_refused({block}, Code::kUnsupported, "padding");
}

TEST_F(ExportTest, OpaqueEnumArrayAndStrings) {
  ExtendedBlock block("");
  ExtendedType opaque;
  opaque.type_class = TypeClass::kOpaque;
  opaque.size = 3;
  opaque.tag = "three bytes";
  ExtendedType choice;
  choice.type_class = TypeClass::kEnum;
  choice.base = Type::kShort;
  choice.size = 2;
  choice.names = {"one", "minus"};
  choice.values = Bytes().text(std::string("\0\1\xff\xff", 4)).vector();
  ExtendedType array;
  array.type_class = TypeClass::kArray;
  array.base = Type::kInt;
  array.lengths = {2, 3};
  array.size = 24;
  ExtendedType fixed = text_type();
  fixed.variable_length = false;
  fixed.size = 5;
  fixed.padding = StringPadding::kSpacePadded;
  const Type codes[] = {block.type(opaque), block.type(choice), block.type(array),
                        block.type(fixed)};
  block.variable("o", codes[0], {}, Bytes().text("xyz"));
  block.variable("e", codes[1], {}, Bytes().text("\xff\xff"));
  block.variable("a", codes[2], {}, Bytes().text(std::string(24, '\1')));
  block.variable("s", codes[3], {2}, Bytes().text("ab   cd   "));
  open({block});
  char* tag = H5Tget_tag(type_of("o"));
  EXPECT_STREQ(tag, "three bytes");
  H5free_memory(tag);
  std::int16_t member = 0;
  ASSERT_GE(H5Tenum_valueof(type_of("e"), "minus", &member), 0);
  EXPECT_EQ(member, -1);
  EXPECT_GT(H5Tequal(H5Tget_super(type_of("e")), H5T_STD_I16BE), 0);
  hsize_t lengths[2];
  ASSERT_EQ(H5Tget_array_dims2(type_of("a"), lengths), 2);
  EXPECT_EQ(lengths[1], 3u);
  EXPECT_EQ(H5Tget_strpad(type_of("s")), H5T_STR_SPACEPAD);
  EXPECT_EQ(H5Tget_cset(type_of("s")), H5T_CSET_UTF8);
  EXPECT_EQ(H5Tget_size(type_of("s")), 5u);
}

TEST_F(ExportTest, CompoundsOfSequencesOfStrings) {
  ExtendedBlock block("");
  const Type text = block.type(text_type()), texts = block.type(sequence_of(text));
  const Type record =
      block.type(compound(40, {{"n", 0, Type::kInt}, {"words", 8, texts}, {"name", 24, text}}));
  // Two values of 40 bytes, then what they lead to: a sequence of two strings, and bytes.
  Bytes region;
  region.text(std::string("\0\0\0\5\0\0\0\0", 8)).heap(2, 80).heap(3, 120);
  region.text(std::string("\0\0\0\6\0\0\0\0", 8)).heap(0, 0).heap(0, 0);
  region.heap(2, 112).heap(0, 116).text("abcdefgh").text("xyz");
  block.stored("r", record, {2}, heap_storage(), region);
  block.attribute(kGlobal, "t", text, 2, Bytes().heap(2, 32).heap(0, 0).text("hi"));
  open({block});
  struct Value {
    int n;
    hvl_t words;
    const char* name;
  };
  const hid_t string = H5Tcopy(H5T_C_S1);
  H5Tset_size(string, H5T_VARIABLE);
  H5Tset_cset(string, H5T_CSET_UTF8);
  const hid_t memory = H5Tcreate(H5T_COMPOUND, sizeof(Value));
  H5Tinsert(memory, "n", HOFFSET(Value, n), H5T_NATIVE_INT);
  H5Tinsert(memory, "words", HOFFSET(Value, words), H5Tvlen_create(string));
  H5Tinsert(memory, "name", HOFFSET(Value, name), string);
  Value values[2];
  ASSERT_GE(H5Dread(data_set("r"), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  EXPECT_EQ(values[0].n, 5);
  ASSERT_EQ(values[0].words.len, 2u);
  EXPECT_STREQ(static_cast<char**>(values[0].words.p)[0], "ab");
  EXPECT_STREQ(static_cast<char**>(values[0].words.p)[1], "");
  EXPECT_STREQ(values[0].name, "xyz");
  EXPECT_EQ(values[1].n, 6);
  EXPECT_EQ(values[1].words.len, 0u);
  EXPECT_EQ(values[1].name, nullptr);
  const char* texts_read[2];
  ASSERT_GE(H5Aread(H5Aopen(file_, "t", H5P_DEFAULT), string, texts_read), 0);
  EXPECT_STREQ(texts_read[0], "hi");
  EXPECT_EQ(texts_read[1], nullptr);
}

TEST_F(ExportTest, SpacesAndLayouts) {
  ExtendedBlock block("");
  Storage none;
  none.kind = StorageKind::kNone;
  block.stored("null", Type::kInt, {}, none, {});
  Property space = property_of(Property::Number::kSpace, 0);
  space.space.space_class = hdf5::SpaceClass::kNull;
  block.property(space);
  block.variable("empty", Type::kInt, {0, 2}, {});
  block.variable("grows", Type::kByte, {3}, Bytes().text("abc"), true);
  block.variable("compact", Type::kByte, {3}, Bytes().text("def"));
  Property compact = property_of(Property::Number::kCreation, 3);
  compact.creation.layout = hdf5::Layout::kCompact;
  compact.creation.allocation = hdf5::Allocation::kEarly;
  compact.creation.fill_state = hdf5::FillState::kUser;
  compact.creation.fill_value = {std::byte{9}};
  block.property(compact);
  open({block});
  EXPECT_EQ(H5Sget_simple_extent_type(H5Dget_space(data_set("null"))), H5S_NULL);
  hsize_t lengths[2], maximum[2];
  EXPECT_EQ(H5Sget_simple_extent_dims(H5Dget_space(data_set("empty")), lengths, maximum), 2);
  EXPECT_EQ(lengths[0], 0u);
  EXPECT_EQ(H5Sget_simple_extent_dims(H5Dget_space(data_set("grows")), lengths, maximum), 1);
  EXPECT_EQ(maximum[0], H5S_UNLIMITED);
  const hid_t dcpl = H5Dget_create_plist(data_set("compact"));
  EXPECT_EQ(H5Pget_layout(dcpl), H5D_COMPACT);
  signed char fill = 0;
  ASSERT_GE(H5Pget_fill_value(dcpl, H5T_NATIVE_SCHAR, &fill), 0);
  EXPECT_EQ(fill, 9);
  char values[3];
  ASSERT_GE(H5Dread(data_set("compact"), H5T_STD_I8BE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  EXPECT_EQ(std::string(values, 3), "def");
}

// A table of two chunks of 4 bytes, of which the second was never written, then the first.
Bytes one_chunk(std::uint64_t offset, std::uint64_t length, std::uint32_t mask) {
  Bytes region;
  region.put(offset).put(length).put(mask).put(std::uint32_t{0});
  return region.heap(0, 0).put(std::uint64_t{0}).text("abcd");
}
Storage chunked(std::vector<Filter> filters) {
  Storage storage;
  storage.kind = StorageKind::kChunked;
  storage.chunk = {4};
  storage.filters = std::move(filters);
  return storage;
}

TEST_F(ExportTest, ChunksAreWrittenAsTheyAre) {
  ExtendedBlock block("");
  const Filter foreign{31999, 0, "not installed", {7, 8}};
  block.stored("c", Type::kByte, {6}, chunked({foreign, {1, 0, "deflate", {6}}}),
               one_chunk(48, 4, 3));
  open({block});
  const hid_t c = data_set("c");
  hsize_t start[1] = {0};
  std::uint32_t mask = 0;
  char bytes[4];
  ASSERT_GE(H5Dread_chunk(c, H5P_DEFAULT, start, &mask, bytes), 0);
  EXPECT_EQ(mask, 3u);
  EXPECT_EQ(std::string(bytes, 4), "abcd");
  hsize_t chunks = 0;
  ASSERT_GE(H5Dget_num_chunks(c, H5Dget_space(c), &chunks), 0);
  EXPECT_EQ(chunks, 1u);
  unsigned flags = 0, parameters[4];
  std::size_t count = 4;
  char name[32];
  EXPECT_EQ(H5Pget_filter2(H5Dget_create_plist(c), 0, &flags, &count, parameters, sizeof name, name,
                           nullptr),
            31999);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(parameters[1], 8u);
  EXPECT_STREQ(name, "not installed");
}

TEST_F(ExportTest, ReferencesLeadToWhatComesLater) {
  ExtendedBlock root(""), later("g");
  const Type object = root.type(reference(ReferenceKind::kObject));
  const Type region = root.type(reference(ReferenceKind::kRegion));
  root.stored("o", object, {2}, heap_storage(), Bytes().heap(4, 32).heap(0, 0).text("/g/v"));
  const hid_t space = H5Screate_simple(1, std::vector<hsize_t>{5}.data(), nullptr);
  const hsize_t start = 1, count = 3;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
  std::size_t size = 0;
  H5Sencode(space, nullptr, &size);
  std::string encoded(size, '\0');
  H5Sencode(space, encoded.data(), &size);
  Bytes values;
  values.heap(8 + size, 16).put(std::uint32_t{4}).text("/g/v").text(encoded);
  root.attribute(kGlobal, "r", region, 1, values);
  later.variable("v", Type::kByte, {5}, Bytes().text("abcde"));
  open({root, later});
  hobj_ref_t objects[2];
  ASSERT_GE(H5Dread(data_set("o"), H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, objects), 0);
  EXPECT_EQ(objects[1], 0u);
  const hid_t found = H5Rdereference2(file_, H5P_DEFAULT, H5R_OBJECT, objects);
  char name[16];
  EXPECT_GT(H5Iget_name(found, name, sizeof name), 0);
  EXPECT_STREQ(name, "/g/v");
  hdset_reg_ref_t selection;
  ASSERT_GE(H5Aread(H5Aopen(file_, "r", H5P_DEFAULT), H5T_STD_REF_DSETREG, &selection), 0);
  EXPECT_EQ(H5Sget_select_npoints(H5Rget_region(file_, H5R_DATASET_REGION, &selection)), 3);
}

TEST_F(ExportTest, AFillValueLeadsToWhatComesLater) {
  ExtendedBlock root("");
  const Type object = root.type(reference(ReferenceKind::kObject));
  const Type text = root.type(text_type());
  root.stored("a", object, {1}, heap_storage(), Bytes().heap(0, 0));
  Property fill = property_of(Property::Number::kCreation, 0);
  fill.creation.fill_state = hdf5::FillState::kUser;
  fill.creation.fill_value = Bytes().heap(1, 16).text("b").vector();
  root.property(fill);
  root.variable("b", Type::kByte, {}, Bytes().text("x"));
  root.stored("s", text, {1}, heap_storage(), Bytes().heap(0, 0));
  fill.owner = 2;
  fill.creation.fill_value = Bytes().heap(4, 16).text("fill").vector();
  root.property(fill);
  open({root});
  hobj_ref_t value = 0;
  ASSERT_GE(H5Pget_fill_value(H5Dget_create_plist(data_set("a")), H5T_STD_REF_OBJ, &value), 0);
  H5O_info_t info;
  ASSERT_GE(H5Oget_info2(data_set("b"), &info, H5O_INFO_BASIC), 0);
  EXPECT_EQ(value, info.addr);
  EXPECT_EQ(info.rc, 1u);
  char* filled = nullptr;
  ASSERT_GE(H5Pget_fill_value(H5Dget_create_plist(data_set("s")), type_of("s"), &filled), 0);
  EXPECT_STREQ(filled, "fill");
}

TEST_F(ExportTest, LinksInTheirOrder) {
  ExtendedBlock root(""), g("g");
  root.variable("z", Type::kByte, {}, Bytes().text("x"));
  root.variable("a", Type::kByte, {}, Bytes().text("y"));
  Property order = property_of(Property::Number::kOrder),
           links = property_of(Property::Number::kLinks);
  order.order = {3, 3};
  links.links = {link(LinkKind::kSoft, "soft", "/nowhere"),
                 link(LinkKind::kVariable, "", "", 1),
                 link(LinkKind::kGroup, "g"),
                 link(LinkKind::kExternal, "out", std::string("other.h5\0/x", 11)),
                 link(LinkKind::kHard, "again", "/a"),
                 link(LinkKind::kUserDefined, "own", "data", 200),
                 link(LinkKind::kVariable, "", "", 0)};
  root.property(order);
  root.property(links);
  Property cycle = property_of(Property::Number::kLinks);
  cycle.links = {link(LinkKind::kHard, "up", "/")};
  g.property(cycle);
  open({root, g});
  std::string names;
  hsize_t at = 0;
  H5Literate(
      file_, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at,
      [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
        *static_cast<std::string*>(out) +=
            std::string(name) + ":" + std::to_string(static_cast<int>(info->type)) + " ";
        return 0;
      },
      &names);
  EXPECT_EQ(names, "soft:1 a:0 g:0 out:64 again:0 own:200 z:0 ");
  H5O_info_t a, again, up, top;
  ASSERT_GE(H5Oget_info_by_name2(file_, "a", &a, H5O_INFO_BASIC, H5P_DEFAULT), 0);
  ASSERT_GE(H5Oget_info_by_name2(file_, "again", &again, H5O_INFO_BASIC, H5P_DEFAULT), 0);
  ASSERT_GE(H5Oget_info_by_name2(file_, "g/up", &up, H5O_INFO_BASIC, H5P_DEFAULT), 0);
  ASSERT_GE(H5Oget_info_by_name2(file_, "/", &top, H5O_INFO_BASIC, H5P_DEFAULT), 0);
  EXPECT_EQ(a.addr, again.addr);
  EXPECT_EQ(up.addr, top.addr);
}

TEST_F(ExportTest, NamedTypesUserBlockAndLargeAttributes) {
  ExtendedBlock root("");
  ExtendedType named = integer(4);
  named.name = "/t";
  const Type type = root.type(named);
  root.variable("v", type, {}, Bytes().put(std::int32_t{12}));
  root.attribute(0, "large", Type::kByte, 100000, Bytes().text(std::string(100000, 'x')));
  Property links = property_of(Property::Number::kLinks);
  links.links = {link(LinkKind::kType, "t", "", static_cast<std::uint32_t>(type)),
                 link(LinkKind::kVariable, "", "", 0)};
  root.property(links);
  ExtendedBlock attributes("");
  attributes.type(named);
  attributes.attribute(kGlobal, "unit", Type::kChar, 1, Bytes().text("m"));
  Property of_type = property_of(Property::Number::kTypeAttributes);
  of_type.type = type;
  of_type.bytes = attributes.body();
  root.property(of_type);
  Property user = property_of(Property::Number::kUserBlock);
  user.bytes.assign(512, std::byte{'u'});
  root.property(user);
  const ProgramResult result = run_export({root});
  if (result.exit_code != 0) GTEST_FAIL() << result.output;
  file_ = H5Fopen(path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file_, 0);
  EXPECT_EQ(read_file(path("a.h5"))[511], std::byte{'u'});
  const hid_t committed = H5Topen2(file_, "t", H5P_DEFAULT);
  H5O_info_t of_data_set, of_link;
  ASSERT_GE(H5Oget_info2(type_of("v"), &of_data_set, H5O_INFO_BASIC), 0);
  ASSERT_GE(H5Oget_info2(committed, &of_link, H5O_INFO_BASIC), 0);
  EXPECT_EQ(of_data_set.addr, of_link.addr);
  EXPECT_GE(H5Aopen(committed, "unit", H5P_DEFAULT), 0);
  EXPECT_EQ(H5Aget_storage_size(H5Aopen(data_set("v"), "large", H5P_DEFAULT)), 100000u);
}

// --- hostile ---

TEST_F(ExportTest, HeapValuesThatLeadOutside) {
  for (const auto& [count, offset] : {std::pair<std::uint64_t, std::uint64_t>{5, 16},
                                      {1, ~std::uint64_t{0}},
                                      {~std::uint64_t{0}, 16},
                                      {1, 0}}) {
    ExtendedBlock block("");
    const Type text = block.type(text_type());
    block.stored("s", text, {1}, heap_storage(), Bytes().heap(count, offset).text("abcd"));
    expect_refused({block}, Code::kDamaged, "data set \"s\"");
  }
}

TEST_F(ExportTest, SequencesThatShareTheirElementsWithoutEnd) {
  ExtendedBlock block("");
  Type type = Type::kByte;
  constexpr int kDepth = 30;
  for (int i = 0; i < kDepth; ++i) type = block.type(sequence_of(type));
  // Each of 64 elements leads to all 64.
  Bytes region;
  for (int i = 0; i < 65; ++i) region.heap(64, 16);
  block.stored("s", type, {1}, heap_storage(), region);
  expect_refused({block}, Code::kDamaged, "together refer to more than");
}

TEST_F(ExportTest, TypesThatContainEachOtherOverAndOver) {
  ExtendedBlock block("");
  Type type = Type::kByte;
  for (int i = 0; i < 30; ++i)
    type = block.type(sequence_of(
        block.type(compound(2 * block.types().value_size(type),
                            {{"a", 0, type}, {"b", block.types().value_size(type), type}}))));
  block.stored("s", type, {1}, heap_storage(), Bytes().heap(0, 0));
  expect_refused({block}, Code::kLimit, "types within");
}

TEST_F(ExportTest, ChunkTablesThatLie) {
  for (const auto& [offset, length, mask] :
       {std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>{48, 5, 0},
        {~std::uint64_t{0}, 4, 0},
        {49, 4, 0},
        {48, 3, 1},
        {48, 4, 2}}) {
    ExtendedBlock block("");
    block.stored("c", Type::kByte, {6}, chunked({{1, 0, "deflate", {6}}}),
                 one_chunk(offset, length, mask));
    expect_refused({block}, Code::kDamaged, "data set \"c\"");
  }
}

TEST_F(ExportTest, PropertiesOfWhatIsNotThere) {
  ExtendedBlock variable("");
  variable.property(property_of(Property::Number::kOrder, 7));
  expect_refused({variable}, Code::kDamaged, "variable 7");
  ExtendedBlock attribute("");
  Property p = property_of(Property::Number::kCharacterSet);
  p.attribute = 3;
  attribute.property(p);
  expect_refused({attribute}, Code::kDamaged, "attribute 3");
  ExtendedBlock twice("");
  twice.property(property_of(Property::Number::kOrder));
  twice.property(property_of(Property::Number::kOrder));
  expect_refused({twice}, Code::kDamaged, "twice");
  ExtendedBlock rank("");
  rank.variable("v", Type::kByte, {2}, Bytes().text("ab"));
  p = property_of(Property::Number::kCreation, 0);
  p.creation.layout = hdf5::Layout::kChunked;
  p.creation.chunk = {1, 1};
  rank.property(p);
  expect_refused({rank}, Code::kDamaged, "a chunk of 2 dimensions");
  ExtendedBlock space("");
  space.variable("v", Type::kByte, {2}, Bytes().text("ab"));
  p = property_of(Property::Number::kSpace, 0);
  p.space.lengths = p.space.maximum = {1u << 30};
  space.property(p);
  expect_refused({space}, Code::kDamaged, "a space of 1 dimensions");
}

// Values must not be written to files that the file itself names.
TEST_F(ExportTest, NothingIsWrittenElsewhere) {
  ExtendedBlock external("");
  external.variable("v", Type::kByte, {2}, Bytes().text("ab"));
  Property p = property_of(Property::Number::kExternalFiles, 0);
  p.external_files = {{0, 2, path("victim")}};
  external.property(p);
  expect_refused({external}, Code::kDamaged, "other files");
  EXPECT_FALSE(std::filesystem::exists(path("victim")));
  const hid_t victim =
      H5Fcreate(path("victim.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(victim);
  const auto before = read_file(path("victim.h5"));
  for (const LinkKind kind : {LinkKind::kExternal, LinkKind::kSoft}) {
    ExtendedBlock root(""), g("g");
    Property links = property_of(Property::Number::kLinks);
    links.links = {
        link(kind, "g", kind == LinkKind::kSoft ? "/" : path("victim.h5") + std::string("\0/", 2))};
    root.property(links);
    g.variable("v", Type::kByte, {2}, Bytes().text("ab"));
    expect_refused({root, g}, Code::kDamaged, "another link has the");
  }
  EXPECT_EQ(read_file(path("victim.h5")), before);
}

TEST_F(ExportTest, SpaceThatWouldBeFilledAtOnce) {
  ExtendedBlock block("");
  Storage none;
  none.kind = StorageKind::kNone;
  block.stored("v", Type::kByte, {std::uint64_t{1} << 50}, none, {});
  Property p = property_of(Property::Number::kCreation, 0);
  p.creation.allocation = hdf5::Allocation::kEarly;
  block.property(p);
  expect_refused({block}, Code::kLimit, "allocate more than 1 GiB at once");
}

TEST_F(ExportTest, AnOutputThatIsThereStays) {
  write_file(path("a.h5"), "mine");
  const ProgramResult result = run_export({ExtendedBlock("")});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_EQ(read_file(path("a.h5")).size(), 4u);
}

}  // namespace
}  // namespace nmb::test

// Values of variable length that HDF5 allocates are not freed before the process ends: not a leak.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
