// Datasets as CDL and JSON: the exact text.
#include "dump/dump.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/counting_source.h"
#include "support/dataset.h"
#include "support/extended_dataset.h"

namespace nmb {
namespace {

using test::ClassicDataset;
using test::text_of;

template <class T>
void put_attribute(Metadata* metadata, VarId owner, std::string_view name, Type type,
                   const std::vector<T>& values) {
  std::vector<std::byte> external(values.size() * type_size(type));
  ASSERT_EQ(
      convert_to_external(memory_type_of<T>(), values.data(), values.size(), type, external.data()),
      0u);
  ASSERT_TRUE(metadata->put_att(owner, name, type, external).ok());
}

void put_text(Metadata* metadata, VarId owner, std::string_view name, std::string_view text) {
  ASSERT_TRUE(metadata->put_att(owner, name, Type::kChar, std::as_bytes(std::span(text))).ok());
}

using namespace std::string_view_literals;

std::string cdl_header(const ClassicDataset& dataset, std::string_view name = "x") {
  return text_of([&](const TextSink& sink) { return write_cdl_header(dataset.text(name), sink); });
}

std::string json_header(const ClassicDataset& dataset, std::string_view name = "x") {
  return text_of([&](const TextSink& sink) { return write_json_header(dataset.text(name), sink); });
}

ClassicDataset attributes_of_all_types() {
  Metadata m;
  put_attribute<std::int8_t>(&m, kGlobal, "b", Type::kByte, {-128, 127});
  put_text(&m, kGlobal, "c", "text");
  put_attribute<std::int16_t>(&m, kGlobal, "s", Type::kShort, {-32768});
  put_attribute<std::int32_t>(&m, kGlobal, "i", Type::kInt, {-2147483647 - 1});
  put_attribute<float>(&m, kGlobal, "f", Type::kFloat,
                       {1.f, 0.1f, 1e10f, -0.f, NAN, -std::numeric_limits<float>::infinity()});
  put_attribute<double>(&m, kGlobal, "d", Type::kDouble,
                        {1., 0.1, 1e20, 1.5e-9, NAN, std::numeric_limits<double>::infinity()});
  put_attribute<std::uint8_t>(&m, kGlobal, "ub", Type::kUByte, {255});
  put_attribute<std::uint16_t>(&m, kGlobal, "us", Type::kUShort, {65535});
  put_attribute<std::uint32_t>(&m, kGlobal, "ui", Type::kUInt, {4294967295U});
  put_attribute<std::int64_t>(&m, kGlobal, "i64", Type::kInt64,
                              {std::numeric_limits<std::int64_t>::min()});
  put_attribute<std::uint64_t>(&m, kGlobal, "u64", Type::kUInt64,
                               {std::numeric_limits<std::uint64_t>::max()});
  put_attribute<std::int32_t>(&m, kGlobal, "none", Type::kInt, {});
  return test::make_dataset(std::move(m), Kind::kCdf5, 0);
}

TEST(Cdl, AttributesOfAllTypes) {
  EXPECT_EQ(cdl_header(attributes_of_all_types()),
            "netcdf x {\n"
            "\n// global attributes:\n"
            "\t\t:b = -128b, 127b ;\n"
            "\t\t:c = \"text\" ;\n"
            "\t\t:s = -32768s ;\n"
            "\t\t:i = -2147483648 ;\n"
            "\t\t:f = 1.f, 0.1f, 1.e+10f, -0.f, NaNf, -Infinityf ;\n"
            "\t\t:d = 1., 0.1, 1.e+20, 1.5e-09, NaN, Infinity ;\n"
            "\t\t:ub = 255UB ;\n"
            "\t\t:us = 65535US ;\n"
            "\t\t:ui = 4294967295U ;\n"
            "\t\t:i64 = -9223372036854775808LL ;\n"
            "\t\t:u64 = 18446744073709551615ULL ;\n"
            "\t\t:none = \"\" ;\n"
            "}\n");
}

TEST(Json, AttributesOfAllTypes) {
  EXPECT_EQ(json_header(attributes_of_all_types()),
            "{\"schema\":\"nmb/header/1\",\"name\":\"x\",\"kind\":\"cdf5\",\"records\":0,"
            "\"dimensions\":[],\"attributes\":["
            "{\"name\":\"b\",\"type\":\"byte\",\"values\":[-128,127]},"
            "{\"name\":\"c\",\"type\":\"char\",\"values\":\"text\"},"
            "{\"name\":\"s\",\"type\":\"short\",\"values\":[-32768]},"
            "{\"name\":\"i\",\"type\":\"int\",\"values\":[-2147483648]},"
            "{\"name\":\"f\",\"type\":\"float\",\"values\":"
            "[1,0.1,1e+10,-0,\"NaN\",\"-Infinity\"]},"
            "{\"name\":\"d\",\"type\":\"double\",\"values\":"
            "[1,0.1,1e+20,1.5e-09,\"NaN\",\"Infinity\"]},"
            "{\"name\":\"ub\",\"type\":\"ubyte\",\"values\":[255]},"
            "{\"name\":\"us\",\"type\":\"ushort\",\"values\":[65535]},"
            "{\"name\":\"ui\",\"type\":\"uint\",\"values\":[4294967295]},"
            "{\"name\":\"i64\",\"type\":\"int64\",\"values\":[-9223372036854775808]},"
            "{\"name\":\"u64\",\"type\":\"uint64\",\"values\":[18446744073709551615]},"
            "{\"name\":\"none\",\"type\":\"int\",\"values\":[]}"
            "],\"variables\":[]}");
}

TEST(Cdl, StringsAreEscaped) {
  Metadata m;
  put_text(&m, kGlobal, "quotes", "a'b\"c\\d");
  put_text(&m, kGlobal, "controls", "\b\f\r\t\v\x01\x7f");
  put_text(&m, kGlobal, "lines", "one\ntwo\n");
  put_text(&m, kGlobal, "nuls", "a\0b\0\0"sv);
  put_text(&m, kGlobal, "bytes", "\xC3\xA9 \xFF \xC2\x9B");
  EXPECT_EQ(cdl_header(test::make_dataset(std::move(m), Kind::kCdf1, 0)),
            "netcdf x {\n"
            "\n// global attributes:\n"
            "\t\t:quotes = \"a\\'b\\\"c\\\\d\" ;\n"
            "\t\t:controls = \"\\b\\f\\r\\t\\v\\001\\177\" ;\n"
            "\t\t:lines = \"one\\n\",\n"
            "\t\t\t\"two\\n\" ;\n"
            "\t\t:nuls = \"a\\000b\\000\\000\" ;\n"
            "\t\t:bytes = \"\xC3\xA9 \\377 \\302\\233\" ;\n"
            "}\n");
}

TEST(Cdl, NcdumpShowsFewerDigitsAndBytes) {
  Metadata m(Metadata::Names::kAsFound);
  put_attribute<float>(&m, kGlobal, "f", Type::kFloat, {0.1f, 1.f / 3, 123456789.f, -1073741824.f});
  put_attribute<double>(&m, kGlobal, "d", Type::kDouble,
                        {1. / 3, 1e15, 999999999999999.9, 4.152551605567817});
  put_text(&m, kGlobal, "lines", "one\n\ntwo\n");
  put_text(&m, kGlobal, "nuls", "a\0b\0\0"sv);
  put_text(&m, kGlobal, "bytes", "\xC3\xA9 \xFF \xC2\x9B");
  put_text(&m, kGlobal, "a%b", "");
  const ClassicDataset dataset = test::make_dataset(std::move(m), Kind::kCdf1, 0);
  EXPECT_EQ(text_of([&](const TextSink& sink) {
              return write_cdl_header(dataset.text("a{b}"), sink, nullptr, CdlForm::kNcdump);
            }),
            "netcdf a\\{b\\} {\n"
            "\n// global attributes:\n"
            "\t\t:f = 0.1f, 0.3333333f, 1.234568e+08f, -1.073742e+09f ;\n"
            "\t\t:d = 0.333333333333333, 1.e+15, 1.e+15, 4.15255160556782 ;\n"
            "\t\t:lines = \"one\\n\",\n"
            "\t\t\t\"\\n\",\n"
            "\t\t\t\"two\\n\",\n"
            "\t\t\t\"\" ;\n"
            "\t\t:nuls = \"a\\000b\" ;\n"
            "\t\t:bytes = \"\xC3\xA9 \xFF \\302\\233\" ;\n"
            "\t\t:a%b = \"\" ;\n"
            "}\n");
}

TEST(Ncml, TypesAndCharactersThatXmlLacks) {
  Metadata m;
  const DimId x = *m.def_dim("a b", 2);
  const VarId v = *m.def_var("v", Type::kUShort, std::vector{x});
  put_attribute<std::uint8_t>(&m, v, "range", Type::kUByte, {0, 255});
  put_text(&m, kGlobal, "text", "<&\"\x01\n\xFF\xEE\xBC\x81\0"sv);
  const ClassicDataset dataset = test::make_dataset(std::move(m), Kind::kCdf5, 0);
  EXPECT_EQ(
      text_of([&](const TextSink& sink) { return write_ncml_header(dataset.text("x.nc"), sink); }),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<netcdf xmlns=\"http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2\">\n"
      "  <dimension name=\"a b\" length=\"2\" />\n"
      "  <attribute name=\"text\" value=\"&lt;&amp;&quot;&#61185;&#10;&#61439;"
      "&#61422;&#61372;&#61313;\" />\n"
      "  <variable name=\"v\" type=\"short\" shape=\"a\\ b\">\n"
      "    <attribute name=\"range\" type=\"byte\" isUnsigned=\"true\" value=\"0 255\" />\n"
      "    <attribute name=\"_Unsigned\" value=\"true\" />\n"
      "  </variable>\n"
      "</netcdf>\n");
}

TEST(Json, StringsAreEscaped) {
  Metadata m;
  put_text(&m, kGlobal, "a", "\"\\\n\0\x7f"sv);
  put_text(&m, kGlobal, "b", "\xC3\xA9 \xFF \xC2\x9B");
  put_text(&m, kGlobal, "c", "\xEE\xBE\x80");  // U+EF80 itself
  EXPECT_EQ(json_header(test::make_dataset(std::move(m), Kind::kCdf1, 0), "n\n"),
            "{\"schema\":\"nmb/header/1\",\"name\":\"n\\u000a\",\"kind\":\"cdf1\",\"records\":0,"
            "\"dimensions\":[],\"attributes\":["
            "{\"name\":\"a\",\"type\":\"char\",\"values\":\"\\\"\\\\\\u000a\\u0000\\u007f\"},"
            "{\"name\":\"b\",\"type\":\"char\",\"values\":\"\xC3\xA9 \\uefff \\u009b\"},"
            "{\"name\":\"c\",\"type\":\"char\",\"values\":\"\\uefee\\uefbe\\uef80\"}"
            "],\"variables\":[]}");
}

TEST(Cdl, NamesAreEscaped) {
  Metadata m(Metadata::Names::kAsFound);
  const DimId dim = *m.def_dim("1 d", 2);
  const VarId data = *m.def_var("data", Type::kInt, std::vector{dim});
  put_attribute<std::int32_t>(&m, data, "_FillValue", Type::kInt, {0});
  ASSERT_TRUE(m.def_var("a,b\n\x1b[0m\xFF\xC2\x9B", Type::kInt, {}).ok());
  ASSERT_TRUE(m.def_var("p\0\0"sv, Type::kInt, {}).ok());
  EXPECT_EQ(cdl_header(test::make_dataset(std::move(m), Kind::kCdf1, 0), "a{b}"),
            "netcdf a\\%7bb\\} {\n"
            "dimensions:\n"
            "\t\\1\\ d = 2 ;\n"
            "variables:\n"
            "\tint data(\\1\\ d) ;\n"
            "\t\tdata :_FillValue = 0 ;\n"
            "\tint a\\,b\\%0a\\%1b\\[0m\\%ff\\%c2\\%9b ;\n"
            "\tint p ;\n"
            "}\n");
}

// tas(time, x) of float with a fill value, name(time, x) and label(x) of char, flag(x) of byte, n
// of double; two records.
ClassicDataset example() {
  Metadata m;
  const DimId time = *m.def_dim("time", kUnlimited);
  const DimId x = *m.def_dim("x", 3);
  const VarId tas = *m.def_var("tas", Type::kFloat, std::vector{time, x});
  put_attribute<float>(&m, tas, "_FillValue", Type::kFloat, {-9.f});
  const VarId name = *m.def_var("name", Type::kChar, std::vector{time, x});
  const VarId label = *m.def_var("label", Type::kChar, std::vector{x});
  put_text(&m, label, "_FillValue", "#");
  *m.def_var("flag", Type::kByte, std::vector{x});
  const VarId n = *m.def_var("n", Type::kDouble, {});
  ClassicDataset d = test::make_dataset(std::move(m), Kind::kCdf2, 2);
  const auto place = [&](VarId v) {
    return d.values.data() + (d.metadata.begin(v) - d.layout.header_length);
  };
  const float first[] = {1.5f, -9.f, 1e10f}, second[] = {NAN, -0.f, 7.f};
  convert_to_external(MemoryType::kFloat, first, 3, Type::kFloat, place(tas));
  convert_to_external(MemoryType::kFloat, second, 3, Type::kFloat,
                      place(tas) + d.layout.record_size);
  std::memcpy(place(name), "ab", 2);
  std::memcpy(place(name) + d.layout.record_size, "\0\n\xE2", 3);
  std::memcpy(place(label), "z\0", 2);
  const double number = 123456789012.;
  convert_to_external(MemoryType::kDouble, &number, 1, Type::kDouble, place(n));
  return d;
}

TEST(Cdl, Data) {
  const ClassicDataset d = example();
  const auto cdl = [&](std::optional<VarId> only) {
    return text_of([&](const TextSink& sink) {
      return write_cdl(d.text("x"), d.layout, d.extent(), only, sink);
    });
  };
  const std::string header =
      "netcdf x {\n"
      "dimensions:\n"
      "\ttime = UNLIMITED ; // (2 currently)\n"
      "\tx = 3 ;\n"
      "variables:\n"
      "\tfloat tas(time, x) ;\n"
      "\t\ttas:_FillValue = -9.f ;\n"
      "\tchar name(time, x) ;\n"
      "\tchar label(x) ;\n"
      "\t\tlabel:_FillValue = \"#\" ;\n"
      "\tbyte flag(x) ;\n"
      "\tdouble n ;\n"
      "data:\n";
  EXPECT_EQ(cdl(std::nullopt), header +
                                   "\n tas =\n  1.5, _, 1e+10,\n  NaNf, -0., 7 ;\n"
                                   "\n name =\n  \"ab\",\n  \"\\000\\n\\342\" ;\n"
                                   "\n label = \"z\\000#\" ;\n"
                                   "\n flag = -127, -127, -127 ;\n"
                                   "\n n = 123456789012. ;\n"
                                   "}\n");
  EXPECT_EQ(cdl(4), header + "\n n = 123456789012. ;\n}\n");
}

TEST(Cdl, LongRowsContinue) {
  Metadata m;
  const DimId x = *m.def_dim("x", 30);
  *m.def_var("v", Type::kShort, std::vector{x});
  ClassicDataset d = test::make_dataset(std::move(m), Kind::kCdf1, 0);
  for (std::byte& b : d.values) b = std::byte{0x55};
  const std::string text = text_of([&](const TextSink& sink) {
    return write_cdl(d.text("x"), d.layout, d.extent(), std::nullopt, sink);
  });
  const std::string data = text.substr(text.find("\n v = ") + 1);
  EXPECT_NE(data.find(",\n    21845"), std::string::npos) << data;
  std::size_t begin = 0;
  for (std::size_t end; (end = data.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 80u) << data;
}

TEST(Values, OfAHyperslab) {
  const ClassicDataset d = example();
  const auto values = [&](VarId v, const Hyperslab& slab, ValueFormat format) {
    return text_of([&](const TextSink& sink) {
      return write_values(d.text("x"), d.layout, d.extent(), v, slab, format, sink);
    });
  };
  constexpr auto kCdl = ValueFormat::kCdl, kJson = ValueFormat::kJson;
  EXPECT_EQ(values(0, {{0, 0}, {2, 3}, {}}, kCdl), "1.5, _, 1e+10,\nNaNf, -0., 7\n");
  EXPECT_EQ(values(0, {{0, 0}, {2, 2}, {1, 2}}, kCdl), "1.5, 1e+10,\nNaNf, 7\n");
  EXPECT_EQ(values(0, {{0, 0}, {2, 3}, {}}, kJson), "[[1.5,-9,1e+10],[\"NaN\",-0,7]]");
  EXPECT_EQ(values(0, {{1, 1}, {1, 1}, {}}, kJson), "[[-0]]");
  EXPECT_EQ(values(1, {{0, 0}, {2, 3}, {}}, kCdl), "\"ab\",\n\"\\000\\n\\342\"\n");
  EXPECT_EQ(values(1, {{0, 0}, {2, 3}, {}}, kJson), "[\"ab\\u0000\",\"\\u0000\\u000a\\uefe2\"]");
  EXPECT_EQ(values(2, {{0}, {3}, {}}, kJson), "\"z\\u0000#\"");
  EXPECT_EQ(values(4, {}, kCdl), "123456789012.\n");
  EXPECT_EQ(values(4, {}, kJson), "123456789012");
  EXPECT_EQ(values(0, {{0, 0}, {0, 3}, {}}, kCdl), "");
  EXPECT_EQ(values(0, {{0, 0}, {0, 3}, {}}, kJson), "[]");
  EXPECT_NE(values(0, {{0, 0}, {3, 3}, {}}, kJson).find("dimension 0"), std::string::npos);
}

TEST(Values, NestedArrays) {
  Metadata m;
  const DimId two = *m.def_dim("two", 2);
  *m.def_var("v", Type::kByte, std::vector{two, two, two});
  ClassicDataset d = test::make_dataset(std::move(m), Kind::kCdf1, 0);
  for (std::size_t i = 0; i < 8; ++i) d.values[i] = static_cast<std::byte>(i);
  EXPECT_EQ(text_of([&](const TextSink& sink) {
              return write_values(d.text("x"), d.layout, d.extent(), 0, {{0, 0, 0}, {2, 2, 2}, {}},
                                  ValueFormat::kJson, sink);
            }),
            "[[[0,1],[2,3]],[[4,5],[6,7]]]");
}

TEST(Headers, OfAViewLeaveOutWhatItHides) {
  test::ExtendedDataset made;
  const DimId x = made.dimension("x", 2);
  const VarId scale = made.unwritten("x", Type::kFloat, {x});
  made.scale(scale, "This is a netCDF dimension but not a netCDF variable.         2", 0);
  const VarId v = made.unwritten("_nc4_non_coord_x", Type::kInt, {x});
  made.scales(v, {"/x"});
  made.text(kGlobal, "_NCProperties", "version=2");
  const auto dataset = made.dataset();
  const NetcdfView view = netcdf_view(*dataset);
  const DatasetText text{"f", dataset->metadata, dataset->kind(), dataset->records};
  EXPECT_EQ(text_of([&](const TextSink& sink) { return write_cdl_header(text, sink, &view); }),
            "netcdf f {\ndimensions:\n\tx = 2 ;\nvariables:\n\tint x(x) ;\n}\n");
  EXPECT_EQ(text_of([&](const TextSink& sink) { return write_json_header(text, sink, &view); }),
            R"({"schema":"nmb/header/1","name":"f","kind":"cdf6","records":0,)"
            R"("dimensions":[{"name":"x","length":2,"record":false}],"attributes":[],)"
            R"("variables":[{"name":"x","type":"int","dimensions":["x"],"shape":[2],)"
            R"("attributes":[]}]})");
  const std::string all =
      text_of([&](const TextSink& sink) { return write_cdl_header(text, sink); });
  for (const char* part : {"float x(x)", "_nc4_non_coord_x", "_NCProperties", "DIMENSION_LIST"})
    EXPECT_NE(all.find(part), all.npos) << part;
}

TEST(Values, MemoryAndReadsAreBounded) {
  Metadata m;
  const DimId time = *m.def_dim("time", kUnlimited);
  *m.def_var("a", Type::kInt, std::vector{time});
  const VarId b = *m.def_var("b", Type::kInt, std::vector{time});
  const ClassicDataset d = test::make_dataset(std::move(m), Kind::kCdf1, 200000);
  const auto extent = d.extent();
  const auto source = std::make_shared<const test::CountingSource>(*extent);
  std::uint64_t bytes = 0, largest = 0;
  ASSERT_TRUE(write_cdl(d.text("x"), d.layout, source, b, [&](std::string_view part) {
                bytes += part.size();
                largest = std::max<std::uint64_t>(largest, part.size());
                return Status();
              }).ok());
  EXPECT_GT(bytes, 600000u);
  EXPECT_LE(largest, 65536u);
  EXPECT_LE(source->largest(), std::uint64_t{1} << 20);
  EXPECT_LE(source->reads(), 4u);
}

// The first MiB can be read.
class CutExtent final : public ByteSource {
 public:
  explicit CutExtent(std::shared_ptr<const ByteSource> base) : base_(std::move(base)) {}
  std::uint64_t size() const override { return base_->size(); }
  const std::string& name() const override { return base_->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset + out.size() > std::uint64_t{1} << 20) return Status(Code::kDamaged, "cut");
    return base_->read_at(offset, out);
  }

 private:
  std::shared_ptr<const ByteSource> base_;
};

TEST(Values, AreWholeUpToWhereTheyCannotBeRead) {
  const auto values = [](Type type, std::uint64_t rows, std::uint64_t length, ValueFormat format) {
    Metadata m;
    std::vector dims{*m.def_dim("one", 1), *m.def_dim("rows", rows), *m.def_dim("x", length)};
    *m.def_var("v", type, dims);
    const ClassicDataset d = test::make_dataset(std::move(m), Kind::kCdf5, 0);
    std::string text;
    const Status status =
        write_values(d.text("x"), d.layout, std::make_shared<CutExtent>(d.extent()), 0,
                     {{0, 0, 0}, {1, rows, length}, {}}, format, [&](std::string_view part) {
                       text += part;
                       return Status();
                     });
    EXPECT_EQ(status.code(), Code::kDamaged);
    return text;
  };
  constexpr auto kCdl = ValueFormat::kCdl, kJson = ValueFormat::kJson;
  // In a row, at the end of one, and in text.
  EXPECT_TRUE(values(Type::kByte, 400000, 3, kJson).ends_with("[-127,-127,-127],[-127]]]"));
  EXPECT_TRUE(values(Type::kByte, 400000, 4, kJson).ends_with(",[-127,-127,-127,-127]]]"));
  EXPECT_TRUE(values(Type::kChar, 2, 600000, kJson).ends_with("\\u0000\"]]"));
  EXPECT_TRUE(values(Type::kByte, 400000, 3, kCdl).ends_with("\n-127, -127, -127,\n-127\n"));
}

TEST(Values, AFailedSinkStopsTheReading) {
  Metadata m;
  const DimId x = *m.def_dim("x", 2000000);
  *m.def_var("v", Type::kInt, std::vector{x});
  const ClassicDataset d = test::make_dataset(std::move(m), Kind::kCdf1, 0);
  const auto extent = d.extent();
  const auto source = std::make_shared<const test::CountingSource>(*extent);
  const Status status = write_cdl(d.text("x"), d.layout, source, std::nullopt,
                                  [](std::string_view) { return Status(Code::kIo, "no more"); });
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(source->reads(), 1u);
}

}  // namespace
}  // namespace nmb
