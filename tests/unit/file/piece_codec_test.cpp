// Stored pieces: encoded, decoded, and damaged.
#include "extent/piece_codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <span>

#include "block/body_codec.h"
#include "wire/codecs.h"

namespace nmb::test {
namespace {

// All but kNone.
constexpr auto kRows = std::span(kPieceCodecs).subspan<1>();
constexpr auto kCodecs = [] {
  std::array<PieceCodec, kRows.size()> codecs{};
  std::ranges::transform(kRows, codecs.begin(), &CodecRow::codec);
  return codecs;
}();

std::vector<std::byte> noise(std::size_t length, unsigned values) {
  std::mt19937 random(7);
  std::vector<std::byte> out(length);
  for (std::byte& b : out) b = static_cast<std::byte>(random() % values);
  return out;
}

TEST(PieceCodec, WhatIsShorterComesBack) {
  for (const CodecRow& row : kRows) {
    const PieceCodec codec = row.codec;
    for (const int level : {1, row.usual_level, std::min(9, row.highest_level)}) {
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

TEST(PieceCodec, ConstantsAreCodedWithinTheExpansionThatReadersTake) {
  for (const std::size_t length : {4096u, 65536u, 1u << 20, (1u << 20) - 1, 256u << 20}) {
    const std::vector<std::byte> values(length, std::byte{9});
    for (const PieceCodec codec : kCodecs) {
      const std::vector<std::byte> stored = encode_piece(codec, 1, values);
      ASSERT_TRUE(is_piece_length(stored.size(), length)) << length << ": " << stored.size();
      EXPECT_LE(stored.size(), 64 + length / 100);
      const Result<std::vector<std::byte>> back = decode_piece(codec, stored, length);
      ASSERT_TRUE(back.ok()) << back.status().text();
      EXPECT_TRUE(*back == values);
    }
  }
}

// A frame of `values`, made with the parameters that `set` sets.
template <class Set>
std::vector<std::byte> frame(std::span<const std::byte> values, Set set) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  set(context.get());
  std::vector<std::byte> out(ZSTD_compressBound(values.size()));
  // In two calls, so that the window is the one that was asked for.
  ZSTD_inBuffer first{values.data(), 1, 0}, all{values.data(), values.size(), 1};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  EXPECT_EQ(ZSTD_compressStream2(context.get(), &to, &first, ZSTD_e_flush), 0u);
  EXPECT_EQ(ZSTD_compressStream2(context.get(), &to, &all, ZSTD_e_end), 0u);
  out.resize(to.pos);
  return out;
}

TEST(PieceCodec, FramesNeedWhatTheFormatAllows) {
  const std::vector<std::byte> values = noise(100000, 3);
  const auto decodes = [&](std::span<const std::byte> stored) {
    std::vector<std::byte> back(values.size());
    return decode_piece(PieceCodec::kZstd, stored, back).ok() &&
           decode_piece(PieceCodec::kZstd, stored, values.size()).ok();
  };
  const auto with_window = [&](int bits) {
    return frame(values, [&](ZSTD_CCtx* c) { ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, bits); });
  };
  EXPECT_TRUE(decodes(with_window(27)));
  EXPECT_FALSE(decodes(with_window(28)));
  std::vector<std::byte> summed =
      frame(values, [](ZSTD_CCtx* c) { ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1); });
  EXPECT_TRUE(decodes(summed));
  summed.back() ^= std::byte{1};
  EXPECT_FALSE(decodes(summed));
  // A dictionary with a number, whose content the frame makes no use of.
  const std::vector<std::byte> samples = noise(1 << 20, 2);
  const std::vector<std::size_t> lengths(1024, 1024);
  const std::vector<std::byte> dictionary = train_dictionary(samples, lengths);
  ASSERT_FALSE(dictionary.empty());
  const std::vector<std::byte> foreign = frame(values, [&](ZSTD_CCtx* c) {
    ZSTD_CCtx_loadDictionary(c, dictionary.data(), dictionary.size());
  });
  EXPECT_FALSE(decodes(foreign));
  const BodyDecompressor with(dictionary), without({});
  EXPECT_TRUE(with.decode(BodyCodec::kZstdDictionary, foreign, values.size()).ok());
  EXPECT_FALSE(with.decode(BodyCodec::kZstd, foreign, values.size()).ok());
  EXPECT_FALSE(without.decode(BodyCodec::kZstd, foreign, values.size()).ok());
  // A frame that is skipped holds nothing.
  const std::vector<std::byte> skipped{std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d},
                                       std::byte{0x18}, std::byte{0},    std::byte{0},
                                       std::byte{0},    std::byte{0}};
  EXPECT_FALSE(is_allowed_frame(skipped, 0, 0));
}

// A length that a file made up costs no memory.
TEST(PieceCodec, MemoryGoesWithWhatIsDecoded) {
  const std::uint64_t claimed = std::uint64_t{1} << 30;
  for (const std::size_t length : {std::size_t{100}, std::size_t{64} << 20}) {
    const std::vector<std::byte> values(length, std::byte{9});
    for (const PieceCodec codec : kCodecs) {
      const std::vector<std::byte> stored = encode_piece(codec, 1, values);
      std::size_t most = 0, used = 0;
      const auto decoded = decode_growing(stored.size(), claimed, [&](std::span<std::byte> out) {
        most = std::max(most, out.size());
        return decode_bytes(codec, stored, out, &used);
      });
      ASSERT_TRUE(decoded);
      EXPECT_TRUE(*decoded == values);
      EXPECT_LE(most, std::max<std::size_t>(4 * length, 1 << 20));
      EXPECT_EQ(decode_piece(codec, stored, claimed).status().rule(), "R-EX-15");
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
    const std::vector<std::byte> stored = encode_piece(codec, 1, values);
    const auto refused = [&](std::vector<std::byte> bytes, std::size_t length, PieceCodec as) {
      std::vector<std::byte> back(length);
      const Status status = decode_piece(as, bytes, back);
      return status.code() == Code::kDamaged && status.rule() == "R-EX-15";
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
    for (const PieceCodec other : kCodecs) {
      if (other == codec) continue;
      EXPECT_TRUE(refused(stored, values.size(), other));
    }
    EXPECT_TRUE(refused({}, values.size(), codec));
  }
}

TEST(PieceCodec, LengthsThatAPieceMayHave) {
  EXPECT_TRUE(is_piece_length(1, 2));
  EXPECT_TRUE(is_piece_length(1, 131072));
  EXPECT_FALSE(is_piece_length(1, 131073));
  EXPECT_FALSE(is_piece_length(1, 1));
  EXPECT_FALSE(is_piece_length(0, 1));
  EXPECT_FALSE(is_piece_length(0, 0));
  EXPECT_FALSE(is_piece_length(5, 4));
  EXPECT_TRUE(is_piece_length(8192, 1 << 30));
  EXPECT_FALSE(is_piece_length(8191, 1 << 30));
}

}  // namespace
}  // namespace nmb::test
