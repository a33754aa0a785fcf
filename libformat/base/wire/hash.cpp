// Computes XXH3 with the widest vectors of the processor (spec/rationale.md, "Sums chain upwards").
#include "wire/hash.h"

#include <cinttypes>
#include <cstdio>

#ifdef NMB_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>  // replaces the functions of xxhash.h with functions that choose the
                              // fastest code for the processor
#endif

namespace nmb {

std::uint64_t sum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string sum_text(std::uint64_t sum) {
  char text[32];
  std::snprintf(text, sizeof text, "checksum 0x%016" PRIx64, sum);
  return text;
}

Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

void SumStream::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_, bytes.data(), bytes.size());
}

void DigestStream::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_, bytes.data(), bytes.size());
}

#ifdef NMB_XXHASH_DISPATCH
namespace {

// The first call for more than 240 bytes chooses the code for all threads. No other thread may call
// the hash function at that time, so this call is made when the program starts.
constexpr std::byte kSome[256] = {};
[[maybe_unused]] const std::uint64_t chosen = XXH3_64bits(kSome, sizeof kSome);

}  // namespace
#endif

}  // namespace nmb
