// Sums and digests of bytes, whole or in passing (spec/format.md, section 1).
#pragma once

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nmb/digest.h"

namespace nmb {

inline std::uint64_t sum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

inline Digest digest_of(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

// Sum of bytes that arrive in parts. Large (576 bytes): keep on the stack or reuse.
class SumStream {
 public:
  SumStream() { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> bytes) {
    XXH3_64bits_update(&state_, bytes.data(), bytes.size());
  }
  std::uint64_t sum() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

class DigestStream {
 public:
  DigestStream() { XXH3_128bits_reset(&state_); }
  void add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
  }
  Digest digest() const {
    XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return {hash.low64, hash.high64};
  }

 private:
  XXH3_state_t state_;
};

}  // namespace nmb
