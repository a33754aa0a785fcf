// Computes checksums and digests of bytes, which can be passed at once or in parts (spec/format.md,
// section 1).
#pragma once

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "wire/bytes.h"

namespace nmb {

std::uint64_t sum_of(std::span<const std::byte> bytes);

// Returns "checksum 0x...", the form of checksums in messages.
std::string sum_text(std::uint64_t sum);

Digest digest_of(std::span<const std::byte> bytes);

// Computes the checksum of bytes that are passed in parts. The object has 576 bytes, so keep it on
// the stack or reuse it.
class SumStream {
 public:
  SumStream() { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> bytes);
  std::uint64_t sum() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

class DigestStream {
 public:
  DigestStream() { XXH3_128bits_reset(&state_); }
  void add(std::span<const std::byte> bytes);
  Digest digest() const {
    XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return {hash.low64, hash.high64};
  }

 private:
  XXH3_state_t state_;
};

}  // namespace nmb
