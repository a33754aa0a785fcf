// Sums and digests of bytes, whole or in passing (spec/format.md, section 1).
#pragma once

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nmb/bytes.h"

namespace nmb {

std::uint64_t sum_of(std::span<const std::byte> bytes);

Digest digest_of(std::span<const std::byte> bytes);

// Sum of bytes that arrive in parts. Large (576 bytes): keep on the stack or reuse.
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
