// Encodes a classic header into one vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/classic.h"

namespace nmb {

// Returns in one vector the bytes that encode_classic_header() emits.
inline Result<std::vector<std::byte>> header_bytes(const Metadata& metadata, Kind kind,
                                                   std::uint64_t records) {
  std::vector<std::byte> out;
  NMB_TRY(encode_classic_header(metadata, kind, records, [&](std::span<const std::byte> part) {
    out.insert(out.end(), part.begin(), part.end());
    return Status();
  }));
  return out;
}

}  // namespace nmb
