// The codecs of values: texts that list them, and their HDF5 filters.
#include "wire/codecs.h"

#include <gtest/gtest.h>

#include <set>

#include "model/values.h"
#include "values/chunk_filters.h"

namespace nmb::test {
namespace {

TEST(Codecs, TextsListAllOfThem) {
  const std::string names = codec_names(), numbers = codec_numbers(),
                    choices = Compression::codec_choices(), filters = chunk_filters_text();
  const auto lists = [](const std::string& text, const std::string& word) {
    const std::size_t at = text.find(word);
    return at != text.npos && (at == 0 || text[at - 1] == ' ');
  };
  for (const CodecRow& row : kPieceCodecs) {
    const std::string name(row.name);
    EXPECT_TRUE(lists(names, name)) << names;
    EXPECT_TRUE(lists(numbers, std::to_string(static_cast<int>(row.codec)))) << numbers;
    const std::string levels = "[:1-" + std::to_string(row.highest_level) + "]";
    EXPECT_TRUE(lists(choices, row.highest_level ? name + levels : name)) << choices;
    EXPECT_EQ(lists(filters, name), row.codec != PieceCodec::kNone) << filters;
  }
  EXPECT_EQ(names.find("none, deflate"), 0u) << names;
  EXPECT_EQ(filters.find("deflate, shuffle, fletcher32"), 0u) << filters;
}

TEST(Codecs, RowsAreSortedAndDiffer) {
  std::set<PieceCodec> codecs;
  std::set<std::uint32_t> filters;
  for (const CodecRow& row : kPieceCodecs) {
    EXPECT_TRUE(codecs.insert(row.codec).second) << row.name;
    EXPECT_TRUE(filters.insert(row.hdf5_filter).second) << row.name;
    EXPECT_LE(row.usual_level, row.highest_level) << row.name;
    EXPECT_EQ(row.usual_level == 0, row.highest_level == 0) << row.name;
    EXPECT_EQ(row.decode && row.encode, row.codec != PieceCodec::kNone) << row.name;
  }
  EXPECT_EQ(kPieceCodecs[0].codec, PieceCodec::kNone);
  EXPECT_TRUE(std::ranges::is_sorted(std::span(kPieceCodecs).subspan(1), {}, &CodecRow::name));
}

TEST(Codecs, FiltersHaveTheirCodecs) {
  for (const CodecRow& row : kPieceCodecs) {
    EXPECT_EQ(&codec_row(row.codec), &row);
    if (row.codec == PieceCodec::kNone) continue;
    ASSERT_NE(codec_of(row.hdf5_filter), nullptr);
    EXPECT_EQ(codec_of(row.hdf5_filter)->codec, row.codec);
    EXPECT_EQ(unknown_filter({{row.hdf5_filter, 0, "", {1}}}), nullptr);
  }
  for (const std::uint32_t filter : {0u, 2u, 3u, 4u, 40000u}) EXPECT_EQ(codec_of(filter), nullptr);
  for (const std::uint32_t filter : {0u, 4u, 40000u})
    EXPECT_NE(first_foreign({{filter, 0, "", {1}}}), nullptr);
  for (const std::uint32_t filter : {0u, 405u, 65534u, 65535u, 65536u})
    EXPECT_NE(unknown_filter({{filter, 0, "", {1}}}), nullptr);
}

TEST(Codecs, NothingIsCodedWithoutCodec) {
  const std::vector<std::byte> values(1000);
  std::vector<std::byte> out(1000);
  std::size_t used = 0;
  EXPECT_EQ(encode_bytes(PieceCodec::kNone, 1, values, out), 0u);
  EXPECT_FALSE(decode_bytes(PieceCodec::kNone, values, out, &used).length);
}

}  // namespace
}  // namespace nmb::test
