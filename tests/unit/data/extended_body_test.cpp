// Bodies of kind 6: what is encoded is decoded again, and each rule refuses what breaks it
// (spec/extended.md, section 15).
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/virtual_name.h"
#include "model/classic.h"
#include "wire/endian.h"

namespace nmb {
namespace {

ExtendedType little_int(std::uint64_t size) {
  ExtendedType t;
  t.type_class = TypeClass::kInteger;
  t.size = size;
  t.is_signed = true;
  t.precision = static_cast<std::uint32_t>(size * 8);
  return t;
}

ExtendedType string() {
  ExtendedType t;
  t.type_class = TypeClass::kString;
  t.size = TypeTable::kHeapValue;
  t.variable_length = true;
  t.character_set = CharacterSet::kUtf8;
  return t;
}

// All that kind 6 has: dimensions of length 0 and that may grow, types of each class, a heap,
// chunks, nothing.
struct Example {
  Metadata metadata;
  std::shared_ptr<Extension> extension = std::make_shared<Extension>();
  Type integer, text, compound;

  Example() {
    TypeTable& types = extension->types;
    integer = *types.add(little_int(4));
    text = *types.add(string());
    ExtendedType t;
    t.type_class = TypeClass::kCompound;
    t.size = 28;
    t.name = "/types/hit";
    t.fields = {{"run", 0, integer}, {"tag", 4, text}, {"energy", 20, Type::kDouble}};
    compound = *types.add(t);
    t = {};
    t.type_class = TypeClass::kFloat;
    t.size = 2;
    t.precision = 16;
    t.sign_position = 15;
    t.exponent_position = 10;
    t.exponent_size = 5;
    t.mantissa_size = 10;
    t.exponent_bias = 15;
    t.normalization = Normalization::kImplied;
    EXPECT_TRUE(types.add(t).ok());
    t = {};
    t.type_class = TypeClass::kEnum;
    t.size = 4;
    t.base = integer;
    t.names = {"off", "on"};
    t.values.resize(8);
    EXPECT_TRUE(types.add(t).ok());
    t = {};
    t.type_class = TypeClass::kArray;
    t.size = 48;
    t.base = integer;
    t.lengths = {3, 4};
    EXPECT_TRUE(types.add(t).ok());
    t = {};
    t.type_class = TypeClass::kVlen;
    t.size = 16;
    t.base = compound;
    EXPECT_TRUE(types.add(t).ok());
    t = {};
    t.type_class = TypeClass::kReference;
    t.size = 16;
    t.reference = ReferenceKind::kRegion;
    EXPECT_TRUE(types.add(t).ok());
    t = {};
    t.type_class = TypeClass::kOpaque;
    t.size = 5;
    t.tag = "date";
    EXPECT_TRUE(types.add(t).ok());

    const DimId x = *metadata.def_dim("x", 10);
    const DimId empty = *metadata.def_dim("empty", 0);
    const DimId grows = *metadata.def_dim("grows", 7);
    const VarId a = *metadata.def_var("a", integer, std::vector{x});
    const VarId b = *metadata.def_var("b", text, std::vector{grows});
    const VarId c = *metadata.def_var("c", Type::kDouble, std::vector{x, grows});
    const VarId d = *metadata.def_var("d", integer, std::vector{empty});
    const VarId e = *metadata.def_var("e", integer, std::vector{x});
    metadata.set_begin(a, 0);
    metadata.set_begin(b, 40);
    metadata.set_begin(c, 160);
    metadata.set_begin(d, 400);
    metadata.set_begin(e, 400);
    extension->unlimited = {{grows, false}};
    extension->storage = {
        {b, StorageKind::kHeap, 120, {}, {}},
        {c, StorageKind::kChunked, 240, {4, 7}, {{2, 0, "shuffle", {8}}, {32015, 1, "", {}}}},
        {e, StorageKind::kNone, 0, {}, {}}};
    hdf5::Property p;
    p.number = hdf5::Property::Number::kOrder;
    p.order = {3, 1};
    hdf5::append_property(p, &extension->hdf5);
    metadata.set_extension(extension);
    std::vector<std::byte> value(2 * 16 + 5);
    store_le(value.data(), std::uint64_t{5});
    store_le(value.data() + 8, std::uint64_t{32});
    EXPECT_TRUE(metadata.def_extended_att(a, "names", text, 2, value).ok());
    EXPECT_TRUE(metadata
                    .def_extended_att(kGlobal, "version", integer, 1,
                                      std::vector<std::byte>(4, std::byte{1}))
                    .ok());
  }
  std::vector<std::byte> body() const { return *encode_extended_body(metadata, 0); }
};

Result<ClassicHeader> decode(std::span<const std::byte> body) {
  return decode_classic_header(MemorySource(body), {.values_follow = false});
}

std::string rule_of(std::span<const std::byte> body) { return decode(body).status().rule(); }

TEST(ExtendedBody, IsDecodedAsItWasEncoded) {
  const Example example;
  const std::vector<std::byte> body = example.body();
  const Result<ClassicHeader> header = decode(body);
  ASSERT_TRUE(header.ok()) << header.status().text();
  EXPECT_EQ(header->layout.kind, Kind::kExtended);
  EXPECT_EQ(header->remark_count, 0u);
  const Metadata& m = header->metadata;
  EXPECT_EQ(m.dimension(1).length, 0u);
  EXPECT_FALSE(m.dimension(1).is_record());
  EXPECT_EQ(m.record_count(0), 7u);
  const TypeTable& types = m.extension()->types;
  ASSERT_EQ(types.size(), example.extension->types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    EXPECT_EQ(types[i], example.extension->types[i]) << i;
  EXPECT_EQ(m.extension()->storage.size(), 3u);
  EXPECT_EQ(m.extension()->storage[1].filters, example.extension->storage[1].filters);
  EXPECT_EQ(m.extension()->hdf5, example.extension->hdf5);
  const Attribute names = *m.find_attribute(0, "names");
  EXPECT_EQ(names.count, 2u);
  EXPECT_EQ(names.values.size(), 37u);
  EXPECT_EQ(*encode_extended_body(m, 0), body);
}

TEST(ExtendedBody, AnyCutOrChangedByteIsReadOrRefused) {
  const std::vector<std::byte> body = Example().body();
  for (std::size_t length = 0; length < body.size(); ++length)
    EXPECT_FALSE(decode(std::span(body).first(length)).ok()) << length;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < body.size(); ++at)
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      std::vector<std::byte> changed = body;
      changed[at] ^= static_cast<std::byte>(flip);
      const Result<ClassicHeader> header = decode(changed);
      if (!header.ok())
        ++refused;
      else
        EXPECT_TRUE(encode_extended_body(header->metadata, 0).ok()) << at;
    }
  EXPECT_GT(refused, body.size());
}

TEST(ExtendedBody, IsNoFile) {
  const std::vector<std::byte> body = Example().body();
  EXPECT_EQ(decode_classic_header(MemorySource(body)).status().code(), Code::kUnknownKind);
}

// Each change makes the example break one rule.
struct Broken {
  const char* rule;
  std::function<void(Example*)> change;
};

TEST(ExtendedBody, RulesOfSections) {
  const Broken kBroken[] = {
      {"R-XD-1",
       [](Example* e) {
         e->extension->unlimited = {{3, false}};
       }},
      {"R-XD-1",
       [](Example* e) {
         e->extension->unlimited = {{2, false}, {1, false}};
       }},
      {"R-XD-2",
       [](Example* e) {
         e->extension->unlimited = {{2, true}};
       }},
      {"R-XS-1", [](Example* e) { e->extension->storage[2].variable = 5; }},
      {"R-XS-1", [](Example* e) { e->extension->storage[2].variable = 1; }},
      {"R-XS-1", [](Example* e) { e->extension->storage[1].filters.resize(33); }},
      {"R-XS-2", [](Example* e) { e->extension->storage[0].region_length = 111; }},
      {"R-XS-2", [](Example* e) { e->extension->storage[1].region_length = 71; }},
      {"R-XS-2", [](Example* e) { e->extension->storage[2].region_length = 8; }},
      {"R-XS-2",
       [](Example* e) {
         e->extension->storage[1].chunk = {4, 0};
       }},
      {"R-XS-2", [](Example* e) { e->extension->storage[1].chunk = {4}; }},
      {"R-XS-2",
       [](Example* e) {
         e->extension->storage[1].chunk = {1 << 20, 1 << 12};
       }},
      {"R-XS-2", [](Example* e) { e->extension->storage.erase(e->extension->storage.begin()); }},
  };
  for (const Broken& broken : kBroken) {
    Example example;
    broken.change(&example);
    EXPECT_EQ(rule_of(example.body()), broken.rule) << &broken - kBroken;
  }
}

TEST(ExtendedBody, RulesOfTheFrame) {
  std::vector<std::byte> body = Example().body();
  body.resize(body.size() + 4);
  EXPECT_EQ(rule_of(body), "R-XB-1");
  body = Example().body();
  store_be(body.data() + 12, load_be<std::uint64_t>(body.data() + 12) + 8);
  EXPECT_FALSE(decode(body).ok());
  body = Example().body();
  const std::size_t sections = (load_be<std::uint64_t>(body.data() + 12) + 7) / 8 * 8;
  body[sections + 4] = std::byte{2};  // the version
  EXPECT_EQ(rule_of(body), "R-XB-2");
  body[sections + 4] = std::byte{1};
  body[sections] = std::byte{9};  // an unknown section, critical
  EXPECT_EQ(decode(body).status().code(), Code::kUnsupported);
}

TEST(TypeTable, RefusesWhatIsNoType) {
  TypeTable types;
  const auto refused = [&](const ExtendedType& t) {
    return types.add(t).status().code() == Code::kDamaged;
  };
  ExtendedType t = little_int(4);
  t.precision = 33;
  EXPECT_TRUE(refused(t));
  t.precision = 0;
  EXPECT_TRUE(refused(t));
  t = little_int(0);
  EXPECT_TRUE(refused(t));
  t = string();
  t.size = 8;
  EXPECT_TRUE(refused(t));
  t = {};
  t.type_class = TypeClass::kArray;
  t.base = Type::kDouble;
  t.lengths = {std::uint64_t{1} << 61, 8};
  t.size = 8;
  EXPECT_TRUE(refused(t));
  t.lengths = {0};
  EXPECT_TRUE(refused(t));
  t = {};
  t.type_class = TypeClass::kEnum;
  t.base = Type::kDouble;
  t.size = 8;
  EXPECT_TRUE(refused(t));
  t = {};
  t.type_class = TypeClass::kCompound;
  t.size = 8;
  EXPECT_TRUE(refused(t));
  t.fields = {{"a", 1, Type::kDouble}};
  EXPECT_TRUE(refused(t));
  t.fields = {{"a", 0, static_cast<Type>(256)}};  // itself
  EXPECT_TRUE(refused(t));
  t = {};
  t.type_class = TypeClass::kVlen;
  t.size = 16;
  t.base = Type::kInt;
  for (int depth = 1; depth < 64; ++depth) t.base = *types.add(t);
  EXPECT_TRUE(types.add(t).ok());
  t.base = *types.add(t);
  EXPECT_TRUE(refused(t));
}

TEST(TypeTable, KnowsClassicTypesInOtherOrder) {
  TypeTable types;
  EXPECT_EQ(types.classic(*types.add(little_int(8))), Type::kInt64);
  ExtendedType t = little_int(4);
  t.precision = 24;
  EXPECT_EQ(types.classic(*types.add(t)), std::nullopt);
  EXPECT_EQ(types.classic(Type::kFloat), Type::kFloat);
}

TEST(Hdf5Section, IsDecodedAsItWasEncoded) {
  std::vector<std::byte> section;
  hdf5::Property links;
  links.number = hdf5::Property::Number::kLinks;
  links.links = {{hdf5::LinkKind::kSoft, CharacterSet::kUtf8, 0, "latest", "/run1"},
                 {hdf5::LinkKind::kVariable, CharacterSet::kAscii, 4, "", ""}};
  hdf5::append_property(links, &section);
  hdf5::Property above;
  above.number = hdf5::Property::Number::kDimensionsAbove;
  above.dimensions_above = {{0, 2}, {3, 1}};
  hdf5::append_property(above, &section);
  hdf5::Property creation;
  creation.number = hdf5::Property::Number::kCreation;
  creation.owner = 3;
  creation.creation.layout = hdf5::Layout::kChunked;
  creation.creation.fill_state = hdf5::FillState::kUser;
  creation.creation.fill_value.resize(3);
  creation.creation.chunk = {5};
  creation.creation.filters = {{1, 0, "deflate", {6}}};
  hdf5::append_property(creation, &section);
  hdf5::Property space;
  space.owner = 3;
  space.attribute = 1;
  space.space = {hdf5::SpaceClass::kSimple, {2, 3}, {2, hdf5::kUnlimitedLength}};
  hdf5::append_property(space, &section);
  const auto decoded = hdf5::decode_properties(section);
  ASSERT_TRUE(decoded.ok()) << decoded.status().text();
  ASSERT_EQ(decoded->size(), 4u);
  EXPECT_EQ((*decoded)[0].links[0].content, "/run1");
  ASSERT_EQ((*decoded)[1].dimensions_above.size(), 2u);
  EXPECT_EQ((*decoded)[1].dimensions_above[0].levels, 2u);
  EXPECT_EQ((*decoded)[1].dimensions_above[1].dimension, 3u);
  EXPECT_EQ((*decoded)[2].creation.filters, creation.creation.filters);
  EXPECT_EQ((*decoded)[2].creation.chunk, creation.creation.chunk);
  EXPECT_EQ((*decoded)[3].space.maximum, space.space.maximum);
  for (std::size_t length = 1; length < section.size(); ++length)
    (void)hdf5::decode_properties(std::span(section).first(length));
  for (std::size_t at = 0; at < section.size(); ++at) {
    std::vector<std::byte> changed = section;
    changed[at] ^= std::byte{0xFF};
    (void)hdf5::decode_properties(changed);
  }
}

TEST(Hdf5Section, PropertiesAreInOrder) {
  const auto property = [](hdf5::Property::Number number, std::uint32_t owner) {
    hdf5::Property p;
    p.number = number;
    p.owner = owner;
    return p;
  };
  using Number = hdf5::Property::Number;
  const auto is_ok = [](const hdf5::Property& first, const hdf5::Property& second) {
    std::vector<std::byte> section;
    hdf5::append_property(first, &section);
    hdf5::append_property(second, &section);
    const Status status = hdf5::decode_properties(section).status();
    EXPECT_TRUE(status.ok() || status.rule() == "R-H5-1") << status.text();
    return status.ok();
  };
  const hdf5::Property of_group = property(Number::kComment, kGlobal);
  const hdf5::Property of_variable = property(Number::kOrder, 0);
  hdf5::Property of_attribute = property(Number::kCharacterSet, 0);
  of_attribute.attribute = 0;
  EXPECT_TRUE(is_ok(of_group, of_variable));
  EXPECT_FALSE(is_ok(of_variable, of_group));
  EXPECT_TRUE(is_ok(of_variable, of_attribute));
  EXPECT_FALSE(is_ok(of_attribute, of_variable));
  EXPECT_FALSE(is_ok(of_attribute, of_attribute));
  const hdf5::Property of_type = property(Number::kTypeComment, kGlobal);
  EXPECT_TRUE(is_ok(of_type, of_type));
}

TEST(VirtualNames, FollowTheirBlock) {
  const auto below = [](std::string_view path) -> std::optional<std::string> {
    if (path.starts_with("/gone")) return std::nullopt;
    return path == "/" ? "/50%" : "/50%" + std::string(path);
  };
  const std::pair<std::string_view, std::optional<std::string>> kNames[] = {
      {"/a/b", "/50%%/a/b"},
      {"a", "50%%/a"},
      {"/100%%", "/50%%/100%%"},
      {"/a/part%b", "/50%%/a/part%b"},
      {"%b/x", "50%%/%b/x"},
      {"/gone", std::nullopt},
      {"/", "/50%%"},
  };
  for (const auto& [name, moved] : kNames)
    EXPECT_EQ(hdf5::moved_source(name, below), moved) << name;
  const auto same = [](std::string_view path) { return std::optional(std::string(path)); };
  EXPECT_EQ(hdf5::moved_source("/1%/%%b", same), "/1%/%%b");
  const auto to_root = [](std::string_view path) -> std::optional<std::string> {
    return path == "/run" ? "/" : std::string(path.substr(4));
  };
  EXPECT_EQ(hdf5::moved_source("run/%b", to_root), "%b");
  EXPECT_EQ(hdf5::moved_source("/run", to_root), "/");
}

}  // namespace
}  // namespace nmb
