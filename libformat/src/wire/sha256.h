// Sha256Stream: computes the SHA-256 of bytes that arrive in parts (FIPS 180-4). No method is known
// to make two different files with the same SHA-256. It is possible to make two different files
// with the same checksum of the format (spec/format.md, section 10.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nmb/bytes.h"

namespace nmb {

class Sha256Stream {
 public:
  void add(std::span<const std::byte> bytes);
  // Returns the SHA-256 of all bytes. Call this once; add() must not be called afterwards.
  Sha256 digest();

 private:
  void take_block(const std::byte* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_{};
  std::uint64_t length_ = 0;  // number of bytes that were added
};

}  // namespace nmb
