// The codecs of values: texts that list them, and their HDF5 filters.
#include "values/codecs.h"

#include <gtest/gtest.h>

#include "model/values.h"
#include "values/chunk_filters.h"

namespace nmb::test {
namespace {

TEST(Codecs, TextsListAllOfThem) {
  EXPECT_EQ(codec_names(), "none, deflate or zstd");
  EXPECT_EQ(codec_numbers(), "0, 1 or 3");
  EXPECT_EQ(Compression::codec_choices(), "none, deflate[:1-9] or zstd[:1-19]");
  EXPECT_EQ(chunk_filters_text(), "deflate, shuffle, fletcher32 or zstd");
}

TEST(Codecs, FiltersHaveTheirCodecs) {
  for (const PieceCodecWord& word : kPieceCodecs) {
    EXPECT_EQ(&word_of(word.codec), &word);
    if (word.codec == PieceCodec::kNone) continue;
    ASSERT_NE(codec_of(word.hdf5_filter), nullptr);
    EXPECT_EQ(codec_of(word.hdf5_filter)->codec, word.codec);
    EXPECT_EQ(unknown_filter({{word.hdf5_filter, 0, "", {1}}}), nullptr);
  }
  for (const std::uint32_t filter : {0u, 2u, 3u, 4u, 40000u}) EXPECT_EQ(codec_of(filter), nullptr);
  for (const std::uint32_t filter : {0u, 4u, 40000u})
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
