// The rules of classic headers one by one, the layout, the encoder's limits, and the work done
// (spec/classic_header.md).
#include <gtest/gtest.h>

#include <algorithm>

#include "model/classic.h"
#include "support/counting_source.h"
#include "support/header_bytes.h"

namespace nmb {
namespace {

using test::CountingSource;
using test::HeaderBytes;
using test::kClassicKinds;

constexpr std::uint32_t kDimensions = 10, kVariables = 11, kAttributes = 12;
constexpr std::uint32_t kByte = 1, kShort = 3, kInt = 4, kDouble = 6;

Result<ClassicHeader> decode(const HeaderBytes& bytes) {
  return decode_classic_header(MemorySource(bytes.bytes(), "test.nc"));
}

void expect_damaged(const HeaderBytes& bytes, const char* rule, std::uint64_t offset) {
  const auto header = decode(bytes);
  ASSERT_FALSE(header.ok()) << "expected " << rule;
  EXPECT_EQ(header.status().code(), Code::kDamaged) << header.status().text();
  EXPECT_EQ(header.status().rule(), rule) << header.status().text();
  EXPECT_EQ(header.status().offset(), offset) << header.status().text();
  EXPECT_EQ(header.status().file(), "test.nc");
}

// Decodes, with these remarks and no others, in this order.
void expect_remarks(const HeaderBytes& bytes,
                    std::vector<std::pair<std::string, std::uint64_t>> expected) {
  const auto header = decode(bytes);
  ASSERT_TRUE(header.ok()) << header.status().text();
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (const HeaderRemark& remark : header->remarks) found.push_back({remark.rule, remark.offset});
  EXPECT_EQ(found, expected);
  EXPECT_EQ(header->remark_count, expected.size());
}

// Two fixed-size variables a and b over dimension x = 3 of type `type`, begins relative to the
// header's end; `length` receives the header's length.
HeaderBytes two_variables(Kind kind, std::uint32_t type, std::uint64_t vsize, std::uint64_t a,
                          std::uint64_t b, std::uint64_t* length) {
  HeaderBytes sized(kind);
  const auto write = [&](HeaderBytes& h, std::uint64_t header) {
    h.list(kDimensions, 1).dimension("x", 3).absent();
    h.list(kVariables, 2).variable("a", {0}, type, vsize, header + a);
    h.variable("b", {0}, type, vsize, header + b);
  };
  write(sized, 0);
  *length = sized.size();
  HeaderBytes bytes(kind);
  write(bytes, *length);
  return bytes;
}

TEST(ClassicHeader, R_CH_1_Magic) {
  for (const char* text : {"", "CDF", "CDF\3", "HDF\1", "\x89HDF\r\n"}) {
    const std::string_view view(text);
    const auto bytes = std::as_bytes(std::span(view.data(), view.size()));
    const auto header = decode_classic_header(MemorySource(bytes));
    ASSERT_FALSE(header.ok());
    EXPECT_EQ(header.status().code(), Code::kUnknownKind);
    EXPECT_EQ(header.status().rule(), "R-CH-1");
  }
}

TEST(ClassicHeader, R_CH_2_Cut) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes whole(kind);
    whole.absent().absent().absent();
    EXPECT_TRUE(decode(whole).ok());
    for (std::uint64_t size = 4; size < whole.size(); ++size) {
      HeaderBytes cut = whole;
      expect_damaged(cut.up_to(size), "R-CH-2", size);
    }
  }
}

TEST(ClassicHeader, R_CH_3_ListTag) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes wrong(kind);
    wrong.absent();
    const std::uint64_t at = wrong.size();
    expect_damaged(wrong.list(kVariables, 0).absent(), "R-CH-3", at);
    HeaderBytes absent(kind);
    expect_damaged(absent.list(0, 1).dimension("x", 1).absent().absent(), "R-CH-3",
                   4 + absent.count_width());
  }
}

TEST(ClassicHeader, R_CH_4_Counts) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes dimensions(kind);
    const std::uint64_t first = dimensions.size() + 4;
    expect_damaged(dimensions.list(kDimensions, 3).dimension("x", 1).absent().absent(), "R-CH-4",
                   first);
    HeaderBytes most(kind);
    expect_damaged(most.list(kDimensions, 0x7FFFFFFF).absent().absent(), "R-CH-4", first);

    HeaderBytes values(kind);
    values.absent().list(kAttributes, 1).name("a").u32(kDouble);
    const std::uint64_t at = values.size();
    expect_damaged(values.count(0x20000000).u64(0).absent(), "R-CH-4", at);

    HeaderBytes rank(kind);
    rank.absent().absent().list(kVariables, 1).name("v");
    const std::uint64_t rank_at = rank.size();
    expect_damaged(rank.count(0x40000001).up_to(rank.size() + 60), "R-CH-4", rank_at);
  }
  // A product that is small modulo 2^64.
  HeaderBytes wraps(Kind::kCdf5);
  wraps.absent().list(kAttributes, 1).name("a").u32(kDouble);
  const std::uint64_t at = wraps.size();
  expect_damaged(wraps.count(std::uint64_t{1} << 61).absent(), "R-CH-4", at);
}

TEST(ClassicHeader, R_CH_5_Names) {
  for (const Kind kind : kClassicKinds) {
    for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{0xFFFFFFFF}}) {
      HeaderBytes dimension(kind);
      dimension.list(kDimensions, 1);
      const std::uint64_t at = dimension.size();
      expect_damaged(dimension.count(length).count(1).absent().absent(), "R-CH-5", at);
    }
  }
  HeaderBytes wraps(Kind::kCdf5);
  wraps.list(kDimensions, 1);
  const std::uint64_t at = wraps.size();
  expect_damaged(wraps.count(~std::uint64_t{0}).count(1).absent().absent(), "R-CH-5", at);
}

TEST(ClassicHeader, R_CH_6_Padding) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes bytes(kind);
    bytes.list(kDimensions, 1).count(1);
    const std::uint64_t name = bytes.size();
    bytes.text("x").text({"\0!?", 3}).count(3);
    bytes.list(kAttributes, 1).name("a").u32(kShort).count(1);
    const std::uint64_t value = bytes.size();
    bytes.text({"\0\1\0\2", 4}).absent();
    expect_remarks(bytes, {{"R-CH-6", name + 2}, {"R-CH-6", value + 3}});
  }
}

TEST(ClassicHeader, R_CH_7_DimensionLength) {
  for (const std::uint64_t length : {~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    HeaderBytes bytes(Kind::kCdf5);
    bytes.list(kDimensions, 1).name("x");
    const std::uint64_t at = bytes.size();
    expect_damaged(bytes.count(length).absent().absent(), "R-CH-7", at);
  }
  HeaderBytes largest(Kind::kCdf5);
  largest.list(kDimensions, 1).dimension("x", (std::uint64_t{1} << 63) - 1).absent().absent();
  EXPECT_TRUE(decode(largest).ok());
}

TEST(ClassicHeader, R_CH_8_OneRecordDimension) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes bytes(kind);
    bytes.list(kDimensions, 2).dimension("t", 0).name("u");
    const std::uint64_t at = bytes.size();
    expect_damaged(bytes.count(0).absent().absent(), "R-CH-8", at);
  }
}

TEST(ClassicHeader, R_CH_9_Types) {
  for (const Kind kind : kClassicKinds) {
    const std::uint32_t most = kind == Kind::kCdf5 ? 11 : 6;
    for (std::uint32_t type = 0; type <= 12; ++type) {
      HeaderBytes attribute(kind);
      attribute.absent().list(kAttributes, 1).name("a");
      const std::uint64_t at = attribute.size();
      attribute.u32(type).count(0).absent();
      HeaderBytes variable(kind);
      variable.absent().absent().list(kVariables, 1).name("v").count(0).absent();
      const std::uint64_t variable_at = variable.size();
      const std::uint64_t length =
          variable_at + 4 + variable.count_width() + variable.begin_width();
      variable.u32(type).count(8).begin(length).up_to(length + 8);
      if (type >= 1 && type <= most) {
        EXPECT_TRUE(decode(attribute).ok()) << type;
        EXPECT_TRUE(decode(variable).ok()) << type;
      } else {
        expect_damaged(attribute, "R-CH-9", at);
        expect_damaged(variable, "R-CH-9", variable_at);
      }
    }
  }
}

TEST(ClassicHeader, R_CH_10_and_11_DimensionIds) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes unknown(kind);
    unknown.list(kDimensions, 2).dimension("x", 1).dimension("t", 0).absent();
    HeaderBytes misplaced = unknown;
    unknown.list(kVariables, 1).name("v").count(2).count(0);
    const std::uint64_t at = unknown.size();
    expect_damaged(unknown.count(2).up_to(at + 60), "R-CH-10", at);
    misplaced.list(kVariables, 1).name("v").count(2).count(1);
    expect_damaged(misplaced.count(1).up_to(at + 60), "R-CH-11", at);
  }
}

TEST(ClassicHeader, R_CH_12_Duplicates) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes dimensions(kind);
    dimensions.list(kDimensions, 2).dimension("x", 1);
    std::uint64_t at = dimensions.size() + dimensions.count_width();
    expect_damaged(dimensions.dimension("x", 2).absent().absent(), "R-CH-12", at);

    HeaderBytes attributes(kind);
    attributes.absent().list(kAttributes, 2).name("a").u32(kInt).count(0);
    at = attributes.size() + attributes.count_width();
    expect_damaged(attributes.name("a").u32(kByte).count(0).absent(), "R-CH-12", at);

    HeaderBytes variables(kind);
    variables.absent().absent().list(kVariables, 2).variable("v", {}, kInt, 4, 200);
    at = variables.size() + variables.count_width();
    expect_damaged(variables.variable("v", {}, kInt, 4, 204).up_to(208), "R-CH-12", at);
  }
}

TEST(ClassicHeader, R_CH_12_AmongVeryMany) {
  constexpr int kMany = 60000;
  for (const int again : {17, kMany - 1}) {
    HeaderBytes whole(Kind::kCdf5);
    whole.list(kDimensions, kMany + 1);
    for (int i = 0; i < kMany; ++i) whole.dimension("d" + std::to_string(i), 1);
    const std::uint64_t at = whole.size() + whole.count_width();
    whole.dimension("d" + std::to_string(again), 2);
    HeaderBytes cut = whole;
    expect_damaged(whole.absent().absent(), "R-CH-12", at);
    // Reported before other errors.
    expect_damaged(cut.u32(99).count(1), "R-CH-12", at);
  }
}

TEST(ClassicHeader, R_CH_13_BeginInTheHeader) {
  for (const Kind kind : kClassicKinds) {
    std::uint64_t length;
    HeaderBytes bytes = two_variables(kind, kInt, 12, 0, 12, &length);
    EXPECT_EQ(decode(bytes.up_to(length + 24))->remark_count, 0u);
    HeaderBytes early = two_variables(kind, kInt, 12, 0, ~std::uint64_t{0}, &length);
    expect_damaged(early, "R-CH-13", length - early.begin_width());
  }
  HeaderBytes negative(Kind::kCdf1);
  negative.absent().absent().list(kVariables, 1).variable("v", {}, kInt, 4, 0x80000000);
  expect_damaged(negative, "R-CH-13", negative.size() - 4);
}

TEST(ClassicHeader, R_CH_14_Overflow) {
  HeaderBytes product(Kind::kCdf5);
  product.list(kDimensions, 1).dimension("x", std::uint64_t{1} << 62).absent();
  HeaderBytes end = product, records(Kind::kCdf5, std::uint64_t{1} << 62);
  product.list(kVariables, 1).variable("v", {0, 0, 0}, kByte, 0, 400);
  expect_damaged(product, "R-CH-14", product.size() - 16);
  end.list(kVariables, 1).variable("v", {0}, kByte, std::uint64_t{1} << 62, std::uint64_t{1} << 62);
  expect_damaged(end, "R-CH-14", end.size() - 8);
  records.list(kDimensions, 1).dimension("t", 0).absent();
  records.list(kVariables, 1).variable("v", {0}, kDouble, 8, 400).up_to(400);
  expect_damaged(records, "R-CH-14", 4);
}

// Where a variable too large for its place may stand.
TEST(ClassicHeader, R_CH_15_LargeVariables) {
  struct Case {
    std::vector<bool> record, large;  // of each variable
    int wrong;                        // index, -1: legal
  };
  const Case cases[] = {
      {{false, false}, {false, true}, -1}, {{false, false}, {true, false}, 0},
      {{false, true}, {true, false}, 0},   {{true, false}, {false, true}, 1},
      {{true, true}, {false, true}, -1},   {{true, true}, {true, false}, 0},
      {{true, false}, {true, false}, -1},  {{true, true}, {true, true}, 0},
  };
  for (const Kind kind : kClassicKinds) {
    const std::uint64_t small = 4, large = kind == Kind::kCdf1 ? 0x7FFFFFFD : 0xFFFFFFFD;
    for (const Case& c : cases) {
      SCOPED_TRACE(&c - cases);
      Metadata metadata;
      ASSERT_TRUE(metadata.def_dim("t", kUnlimited).ok());
      ASSERT_TRUE(metadata.def_dim("small", small).ok());
      ASSERT_TRUE(metadata.def_dim("half", large / 2 + 1).ok());
      ASSERT_TRUE(metadata.def_dim("two", 2).ok());
      for (std::size_t i = 0; i < c.record.size(); ++i) {
        std::vector<DimId> shape;
        if (c.record[i]) shape.push_back(0);
        if (c.large[i])
          shape.insert(shape.end(), {2, 3});
        else
          shape.push_back(1);
        ASSERT_TRUE(metadata.def_var("v" + std::to_string(i), Type::kByte, shape).ok());
      }
      Metadata placed = metadata;
      const auto layout = layout_classic(placed, kind);
      // The decoder must see the same: encoded as CDF-5 would place it, where that fits.
      ASSERT_TRUE(layout_classic(metadata, Kind::kCdf5).ok());
      const auto bytes = test::encode(metadata, kind, 0);
      const bool wrong = c.wrong >= 0 && kind != Kind::kCdf5;
      EXPECT_EQ(layout.ok(), !wrong) << layout.status().text();
      if (wrong) {
        EXPECT_EQ(layout.status().code(), Code::kUnsupported);
      }
      if (!bytes.ok()) {
        EXPECT_EQ(kind, Kind::kCdf1);  // a begin past 2^31 - 1
        continue;
      }
      const auto header = decode_classic_header(MemorySource(*bytes), {.values_follow = false});
      EXPECT_EQ(header.ok(), !wrong) << header.status().text();
      if (wrong) {
        EXPECT_EQ(header.status().rule(), "R-CH-15");
      }
    }
  }
}

TEST(ClassicHeader, R_CH_16_Overlap) {
  for (const Kind kind : kClassicKinds) {
    std::uint64_t length;
    HeaderBytes bytes = two_variables(kind, kInt, 12, 0, 11, &length);
    expect_damaged(bytes.up_to(length + 24), "R-CH-16", length - bytes.begin_width());
    bytes = two_variables(kind, kInt, 12, 4, 4, &length);
    expect_damaged(bytes.up_to(length + 24), "R-CH-16", length - bytes.begin_width());

    // Record variables of 4 bytes each with a hole between them: a record has 8 bytes.
    HeaderBytes apart(kind, 1);
    apart.list(kDimensions, 1).dimension("t", 0).absent().list(kVariables, 2);
    HeaderBytes behind = apart;
    apart.variable("a", {0}, kInt, 4, 400).variable("b", {0}, kInt, 4, 408);
    std::uint64_t at = apart.size() - apart.begin_width();
    expect_damaged(apart.up_to(412), "R-CH-16", at);

    // A fixed-size variable behind the first record.
    behind.variable("a", {0}, kInt, 4, 400).variable("b", {}, kInt, 4, 404);
    at = behind.size() - behind.begin_width();
    expect_damaged(behind.up_to(408), "R-CH-16", at);
  }
}

TEST(ClassicHeader, R_CH_17_CutValues) {
  for (const Kind kind : kClassicKinds) {
    std::uint64_t length;
    const HeaderBytes bytes = two_variables(kind, kByte, 4, 0, 4, &length);
    for (std::uint64_t values = 0; values < 7; ++values)
      expect_damaged(HeaderBytes(bytes).up_to(length + values), "R-CH-17", length + values);
    // Padding alone may be missing.
    expect_remarks(HeaderBytes(bytes).up_to(length + 7), {{"R-CH-17", length + 7}});
    expect_remarks(HeaderBytes(bytes).up_to(length + 8), {});

    HeaderBytes records(kind, 3);
    records.list(kDimensions, 1).dimension("t", 0).absent().list(kVariables, 2);
    const std::uint64_t begin =
        records.size() +
        2 * (records.count_width() * 4 + 4 + 4 + 4 + records.count_width() + records.begin_width());
    records.variable("a", {0}, kInt, 4, begin).variable("b", {0}, kShort, 4, begin + 4);
    ASSERT_EQ(records.size(), begin);
    expect_damaged(HeaderBytes(records).up_to(begin + 21), "R-CH-17", begin + 21);
    expect_remarks(HeaderBytes(records).up_to(begin + 22), {{"R-CH-17", begin + 22}});
    expect_remarks(HeaderBytes(records).up_to(begin + 24), {});
  }
}

TEST(ClassicHeader, R_CH_18_BodyEndsWithTheHeader) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes bytes(kind);
    bytes.absent().absent().absent();
    const std::uint64_t length = bytes.size();
    const DecodeOptions body{.values_follow = false};
    EXPECT_TRUE(decode_classic_header(MemorySource(bytes.bytes()), body).ok());
    bytes.up_to(length + 1);
    const auto header = decode_classic_header(MemorySource(bytes.bytes()), body);
    ASSERT_FALSE(header.ok());
    EXPECT_EQ(header.status().rule(), "R-CH-18");
    EXPECT_EQ(header.status().offset(), length);
  }
}

TEST(ClassicHeader, R_CH_19_EmptyLists) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes bytes(kind);
    const std::uint64_t first = bytes.size(), step = 4 + bytes.count_width();
    bytes.list(kDimensions, 0).list(kAttributes, 0).list(kVariables, 0);
    expect_remarks(bytes,
                   {{"R-CH-19", first}, {"R-CH-19", first + step}, {"R-CH-19", first + 2 * step}});
  }
}

TEST(ClassicHeader, R_CH_20_to_23_Departures) {
  for (const Kind kind : kClassicKinds) {
    std::uint64_t length;
    HeaderBytes vsize = two_variables(kind, kInt, 99, 0, 12, &length);
    const std::uint64_t begin = vsize.begin_width(), count = vsize.count_width();
    const std::uint64_t a = length - 2 * begin - 5 * count - 12, b = length - begin;
    expect_remarks(vsize.up_to(length + 24), {{"R-CH-20", a - count}, {"R-CH-20", b - count}});
    HeaderBytes slack = two_variables(kind, kInt, 12, 4, 20, &length);
    expect_remarks(slack.up_to(length + 32), {{"R-CH-21", a}, {"R-CH-21", b}});
    HeaderBytes order = two_variables(kind, kInt, 12, 12, 0, &length);
    expect_remarks(order.up_to(length + 24), {{"R-CH-21", a}, {"R-CH-22", b}});
    HeaderBytes trailing = two_variables(kind, kInt, 12, 0, 12, &length);
    expect_remarks(trailing.up_to(length + 25), {{"R-CH-23", length + 24}});
  }
}

TEST(ClassicHeader, R_CH_24_Streaming) {
  for (const Kind kind : kClassicKinds) {
    HeaderBytes bytes(kind, ~std::uint64_t{0});
    bytes.list(kDimensions, 1).dimension("t", 0).absent().list(kVariables, 2);
    bytes.variable("a", {0}, kInt, 4, 400).variable("b", {0}, kByte, 4, 404);
    // Records end at 408, 416, ...; the last may lack its padding.
    const std::pair<std::uint64_t, std::uint64_t> sizes[] = {
        {bytes.size(), 0}, {404, 0}, {405, 1}, {408, 1}, {412, 1}, {413, 2}, {416, 2}};
    for (const auto& [size, records] : sizes) {
      const auto header = decode(HeaderBytes(bytes).up_to(size));
      ASSERT_TRUE(header.ok()) << header.status().text();
      EXPECT_EQ(header->layout.records, records) << size;
      EXPECT_EQ(header->layout.record_count, RecordCount::kStreaming);
      EXPECT_TRUE(std::ranges::any_of(header->remarks, [](const HeaderRemark& remark) {
        return remark.rule == "R-CH-24" && remark.offset == 4;
      }));
    }
  }
}

TEST(ClassicHeader, R_CH_25_NamesAsFound) {
  using std::string_view_literals::operator""sv;
  for (const Kind kind : kClassicKinds) {
    for (const std::string_view name : {"\xff"sv, "a/b"sv, ".."sv, "a\0b"sv}) {
      HeaderBytes bytes(kind);
      bytes.list(kDimensions, 1);
      const std::uint64_t at = bytes.size() + bytes.count_width();
      bytes.dimension(name, 1).absent().absent();
      expect_remarks(bytes, {{"R-CH-25", at}});
      EXPECT_EQ(decode(bytes)->metadata.dimension(0).name, name);
    }
  }
}

TEST(ClassicHeader, KeepsAHundredRemarks) {
  HeaderBytes bytes(Kind::kCdf1);
  bytes.list(kDimensions, 250);
  for (int i = 0; i < 250; ++i) bytes.dimension("/" + std::to_string(i), 1);
  const auto header = decode(bytes.absent().absent());
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->remark_count, 250u);
  EXPECT_EQ(header->remarks.size(), ClassicHeader::kMaxRemarks);
}

TEST(ClassicLayout, PadsRecordsUnlessThereIsOneVariable) {
  for (const Kind kind : kClassicKinds) {
    Metadata metadata;
    const DimId t = *metadata.def_dim("t", kUnlimited), x = *metadata.def_dim("x", 3);
    const DimId record[] = {t, x}, fixed[] = {x};
    ASSERT_TRUE(metadata.def_var("r1", Type::kShort, record).ok());
    ASSERT_TRUE(metadata.def_var("f", Type::kByte, fixed).ok());
    auto layout = layout_classic(metadata, kind);
    ASSERT_TRUE(layout.ok());
    EXPECT_EQ(metadata.begin(1), layout->header_length);
    EXPECT_EQ(layout->fixed_end, layout->header_length + 4);
    EXPECT_EQ(layout->record_begin, layout->fixed_end);
    EXPECT_EQ(metadata.begin(0), layout->record_begin);
    EXPECT_EQ(layout->record_size, 6u);
    EXPECT_EQ(layout->end(3), layout->record_begin + 18);
    ASSERT_TRUE(metadata.def_var("r2", Type::kByte, record).ok());
    layout = layout_classic(metadata, kind);
    ASSERT_TRUE(layout.ok());
    EXPECT_EQ(metadata.begin(2), metadata.begin(0) + 8);
    EXPECT_EQ(layout->record_size, 12u);
  }
}

TEST(ClassicLayout, RefusesWhatAKindCannotHold) {
  Metadata unsigned_byte, wide_attribute, far, long_dimension, past;
  ASSERT_TRUE(unsigned_byte.def_var("v", Type::kUByte, {}).ok());
  ASSERT_TRUE(wide_attribute.put_att(kGlobal, "a", Type::kInt64, {}).ok());
  ASSERT_TRUE(long_dimension.def_dim("x", std::uint64_t{1} << 32).ok());
  const DimId x[] = {*far.def_dim("x", 0x7FFFFFF0)}, y[] = {*far.def_dim("y", 8)};
  ASSERT_TRUE(far.def_var("v", Type::kByte, x).ok());
  ASSERT_TRUE(far.def_var("w", Type::kByte, y).ok());
  ASSERT_TRUE(far.def_var("u", Type::kByte, y).ok());
  const DimId all[] = {*past.def_dim("x", ~std::uint64_t{0} >> 1)};
  ASSERT_TRUE(past.def_var("v", Type::kByte, all).ok());

  const auto code = [](Metadata& metadata, Kind kind) {
    return layout_classic(metadata, kind).status().code();
  };
  for (Metadata* metadata : {&unsigned_byte, &wide_attribute, &long_dimension}) {
    EXPECT_EQ(code(*metadata, Kind::kCdf1), Code::kUnsupported);
    EXPECT_EQ(code(*metadata, Kind::kCdf2), Code::kUnsupported);
    EXPECT_EQ(code(*metadata, Kind::kCdf5), Code::kOk);
    EXPECT_EQ(code(*metadata, Kind::kExtended), Code::kUnsupported);
  }
  // The longest dimension of CDF-1, without variables.
  Metadata longest, too_long;
  ASSERT_TRUE(longest.def_dim("x", 0x7FFFFFFF).ok());
  ASSERT_TRUE(too_long.def_dim("x", 0x80000000).ok());
  EXPECT_EQ(code(longest, Kind::kCdf1), Code::kOk);
  EXPECT_EQ(code(too_long, Kind::kCdf1), Code::kUnsupported);
  EXPECT_EQ(code(too_long, Kind::kCdf2), Code::kOk);
  EXPECT_EQ(code(far, Kind::kCdf1), Code::kUnsupported);
  EXPECT_EQ(code(far, Kind::kCdf2), Code::kOk);
  EXPECT_EQ(code(past, Kind::kCdf5), Code::kLimit);
}

TEST(ClassicEncode, RefusesWhatAKindCannotHold) {
  Metadata metadata;
  ASSERT_TRUE(metadata.def_var("v", Type::kUByte, {}).ok());
  EXPECT_EQ(test::encode(metadata, Kind::kCdf2, 0).status().code(), Code::kUnsupported);
  EXPECT_TRUE(test::encode(metadata, Kind::kCdf5, 0).ok());
  Metadata far;
  ASSERT_TRUE(far.def_var("v", Type::kByte, {}).ok());
  far.set_begin(0, 0x80000000);
  EXPECT_EQ(test::encode(far, Kind::kCdf1, 0).status().code(), Code::kUnsupported);
  EXPECT_TRUE(test::encode(far, Kind::kCdf2, 0).ok());
  EXPECT_EQ(test::encode(Metadata(), Kind::kCdf2, 0xFFFFFFFF).status().code(), Code::kUnsupported);
  EXPECT_TRUE(test::encode(Metadata(), Kind::kCdf2, kStreamingRecords).ok());
}

// A header of over 1 MiB: names, and one attribute larger than a window.
Metadata large_metadata() {
  Metadata metadata;
  const std::vector<std::byte> values(600 * 1000);
  EXPECT_TRUE(metadata.put_att(kGlobal, "large", Type::kByte, values).ok());
  for (int i = 0; i < 20000; ++i)
    EXPECT_TRUE(metadata.def_var("variable_" + std::to_string(i), Type::kInt, {}).ok());
  return metadata;
}

TEST(ClassicEncode, EmitsPiecesAndStopsAtAFailure) {
  Metadata metadata = large_metadata();
  const auto layout = layout_classic(metadata, Kind::kCdf5);
  ASSERT_TRUE(layout.ok());
  constexpr std::size_t kPiece = 32 * 1024;
  std::uint64_t pieces = 0, bytes = 0;
  ASSERT_TRUE(encode_classic_header(metadata, Kind::kCdf5, 0, [&](auto piece) {
                EXPECT_LE(piece.size(), kPiece);
                ++pieces;
                bytes += piece.size();
                return Status();
              }).ok());
  EXPECT_EQ(bytes, layout->header_length);
  // A value or a short padded name is not split.
  EXPECT_LE(pieces, bytes / (kPiece - 256) + 1);
  for (const std::uint64_t fail_at : {std::uint64_t{0}, std::uint64_t{1}, pieces / 2, pieces - 1}) {
    std::uint64_t calls = 0;
    const Status status = encode_classic_header(metadata, Kind::kCdf5, 0, [&](auto) {
      return calls++ == fail_at ? Status(Code::kNoSpace, "full") : Status();
    });
    EXPECT_EQ(status.code(), Code::kNoSpace);
    EXPECT_EQ(calls, fail_at + 1);
  }
}

TEST(ClassicHeader, ReadsEachByteOnceInWindows) {
  Metadata metadata = large_metadata();
  const auto layout = layout_classic(metadata, Kind::kCdf5);
  auto bytes = test::encode(metadata, Kind::kCdf5, 0);
  ASSERT_TRUE(layout.ok() && bytes.ok());
  bytes->resize(layout->end(0));
  const MemorySource memory(*bytes, "counting");
  const CountingSource counting(memory);
  const auto header = decode_classic_header(counting);
  ASSERT_TRUE(header.ok()) << header.status().text();
  EXPECT_EQ(test::difference(header->metadata, metadata), "");
  EXPECT_LE(counting.bytes(), bytes->size());
  EXPECT_LE(counting.reads(), layout->header_length / (256 * 1024) + 2);
  for (std::uint64_t fail_at = 0; fail_at < counting.reads(); ++fail_at) {
    const auto failed = decode_classic_header(CountingSource(memory, fail_at));
    EXPECT_EQ(failed.status().code(), Code::kIo);
  }

  // A small header in a large file needs one small read.
  HeaderBytes small(Kind::kCdf1);
  small.absent().absent().absent().up_to(1 << 20);
  const auto small_bytes = small.bytes();
  const MemorySource small_memory(small_bytes, "counting");
  const CountingSource small_counting(small_memory);
  ASSERT_TRUE(decode_classic_header(small_counting).ok());
  EXPECT_EQ(small_counting.reads(), 1u);
  EXPECT_LE(small_counting.bytes(), 16u * 1024);
}

}  // namespace
}  // namespace nmb
