// Compression: how values are to be stored that are written anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/export.h"
#include "nmb/status.h"

namespace nmb {

// kKeep: what the values had.
enum class ValueCodec : std::uint8_t { kKeep, kNone, kDeflate, kZstd };

struct Compression {
  ValueCodec codec = ValueCodec::kKeep;
  int level = 0;
  // Bytes of one significance lie together ahead of the codec. Chunks that had it keep it.
  bool shuffle = false;
  // Lengths of chunks along dimensions of these names; others are as they were, or as many as make
  // chunks of about 1 MiB.
  struct ChunkLength {
    std::string dimension;
    std::uint64_t length = 0;  // at least 1
  };
  std::vector<ChunkLength> chunk;

  // Codec and level of "none", "deflate", "zstd", "deflate:1" to 9 (without: 6), "zstd:1" to 19
  // (1). kUsage.
  NMB_EXPORT Status set_codec(std::string_view text);
  // "DIM:LEN,...". kUsage.
  NMB_EXPORT Status set_chunk(std::string_view text);
};

}  // namespace nmb
