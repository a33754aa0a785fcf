// Sums and digests beside what libxxhash makes of the same bytes.
#include "wire/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nmb {
namespace {

// Bytes whose places matter.
std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * i / 7 + i);
  return bytes;
}

TEST(Hash, IsXxh3WhateverTheLengthAndTheAddress) {
  const std::vector<std::byte> bytes = some_bytes(5000);
  for (std::size_t begin : {0u, 1u, 31u})
    for (std::size_t size = 0; size + begin <= bytes.size(); size += size < 300 ? 1 : 47) {
      const auto part = std::span(bytes).subspan(begin, size);
      const XXH128_hash_t digest = XXH3_128bits(part.data(), size);
      ASSERT_EQ(sum_of(part), XXH3_64bits(part.data(), size)) << begin << ", " << size;
      ASSERT_EQ(digest_of(part), (Digest{digest.low64, digest.high64})) << begin << ", " << size;
    }
}

TEST(Hash, OfPartsIsThatOfTheWhole) {
  const std::vector<std::byte> bytes = some_bytes(5000);
  for (std::size_t step : {1u, 64u, 255u, 1024u, 4999u}) {
    SumStream sum;
    DigestStream digest;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      const auto part = std::span(bytes).subspan(at, std::min(step, bytes.size() - at));
      sum.add(part);
      digest.add(part);
    }
    EXPECT_EQ(sum.sum(), sum_of(bytes)) << step;
    EXPECT_EQ(digest.digest(), digest_of(bytes)) << step;
  }
}

}  // namespace
}  // namespace nmb
