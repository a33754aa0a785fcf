// Pieces as they are stored: encoded and decoded, and what does not decode.
#include "extent/piece_codec.h"

#include <gtest/gtest.h>

#include <random>

namespace nmb::test {
namespace {

constexpr PieceCodec kCodecs[] = {PieceCodec::kZstd, PieceCodec::kDeflate};

std::vector<std::byte> noise(std::size_t length, unsigned values) {
  std::mt19937 random(7);
  std::vector<std::byte> out(length);
  for (std::byte& b : out) b = static_cast<std::byte>(random() % values);
  return out;
}

TEST(PieceCodec, WhatIsShorterComesBack) {
  for (const PieceCodec codec : kCodecs) {
    for (const int level : {1, 6, 9}) {
      for (const std::size_t length : {1000u, 65536u, 1u << 20}) {
        const std::vector<std::byte> values = noise(length, 5);
        const std::vector<std::byte> stored = encode_piece(codec, level, values);
        ASSERT_TRUE(is_piece_length(stored.size(), values.size())) << stored.size();
        EXPECT_EQ(encode_piece(codec, level, values), stored);
        std::vector<std::byte> back(length);
        const Status status = decode_piece(codec, stored, back);
        ASSERT_TRUE(status.ok()) << status.text();
        EXPECT_TRUE(back == values);
      }
    }
  }
}

// A frame would be shorter than 1/1024 otherwise, which no reader takes.
TEST(PieceCodec, ConstantsAreCodedWithinTheExpansionThatReadersTake) {
  for (const std::size_t length : {4096u, 65536u, 1u << 20, (1u << 20) - 1, 16u << 20}) {
    const std::vector<std::byte> values(length, std::byte{9});
    for (const PieceCodec codec : kCodecs) {
      const std::vector<std::byte> stored = encode_piece(codec, 1, values);
      if (codec == PieceCodec::kDeflate && length > 1 << 20) continue;  // may stay as it is
      ASSERT_TRUE(is_piece_length(stored.size(), length)) << length << ": " << stored.size();
      EXPECT_LE(stored.size(), 64 + length / 100);
      std::vector<std::byte> back(length);
      EXPECT_TRUE(decode_piece(codec, stored, back).ok());
      EXPECT_TRUE(back == values);
    }
  }
}

TEST(PieceCodec, WhatIsNotShorterByASixteenthStaysAsItIs) {
  for (const PieceCodec codec : kCodecs) {
    EXPECT_TRUE(encode_piece(codec, 1, noise(65536, 256)).empty());
    EXPECT_TRUE(encode_piece(codec, 1, noise(1, 1)).empty());
    EXPECT_TRUE(encode_piece(codec, 1, {}).empty());
    // 7.6 bits a byte.
    EXPECT_TRUE(encode_piece(codec, 1, noise(1 << 20, 195)).empty());
  }
}

TEST(PieceCodec, DamagedPiecesAreRefused) {
  const std::vector<std::byte> values = noise(5000, 3);
  for (const PieceCodec codec : kCodecs) {
    const std::vector<std::byte> stored = encode_piece(codec, 3, values);
    const auto refused = [&](std::vector<std::byte> bytes, std::size_t length, PieceCodec as) {
      std::vector<std::byte> back(length);
      const Status status = decode_piece(as, bytes, back);
      return status.code() == Code::kDamaged && status.rule() == "R-EX-4";
    };
    EXPECT_FALSE(refused(stored, values.size(), codec));
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, values.size() - 1, values.size() + 1})
      EXPECT_TRUE(refused(stored, length, codec)) << length;
    for (std::size_t cut = 0; cut < stored.size(); cut += 7)
      EXPECT_TRUE(refused({stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(cut)},
                          values.size(), codec))
          << cut;
    std::vector<std::byte> longer = stored;
    longer.push_back(std::byte{0});
    EXPECT_TRUE(refused(longer, values.size(), codec));
    std::vector<std::byte> twice = stored;
    twice.insert(twice.end(), stored.begin(), stored.end());
    EXPECT_TRUE(refused(twice, 2 * values.size(), codec));
    EXPECT_TRUE(refused(stored, values.size(),
                        codec == PieceCodec::kZstd ? PieceCodec::kDeflate : PieceCodec::kZstd));
    EXPECT_TRUE(refused({}, values.size(), codec));
  }
}

TEST(PieceCodec, LengthsThatAPieceMayHave) {
  EXPECT_TRUE(is_piece_length(1, 2));
  EXPECT_TRUE(is_piece_length(1, 1024));
  EXPECT_FALSE(is_piece_length(1, 1025));
  EXPECT_FALSE(is_piece_length(1, 1));
  EXPECT_FALSE(is_piece_length(0, 1));
  EXPECT_FALSE(is_piece_length(0, 0));
  EXPECT_FALSE(is_piece_length(5, 4));
  EXPECT_TRUE(is_piece_length(1 << 20, 1 << 30));
  EXPECT_FALSE(is_piece_length((1 << 20) - 1, 1 << 30));
}

}  // namespace
}  // namespace nmb::test
