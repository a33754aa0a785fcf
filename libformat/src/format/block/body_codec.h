// Stored bodies: uncompressed, or one zstd frame with or without the file's dictionary
// (spec/format.md, sections 8.2 and 8.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/block/block_header.h"
#include "nmb/status.h"

struct ZSTD_CDict_s;
struct ZSTD_DDict_s;
struct ZSTD_CCtx_s;

namespace nmb {

// Most raw bytes for each stored byte of a compressed body or piece.
inline constexpr std::uint64_t kMaxExpansion = 131072;
// The largest number of bytes of a compressed body that this version decodes, because it is decoded
// in memory.
inline constexpr std::uint64_t kMaxBody = std::uint64_t{1} << 30;

// Compresses bodies. Not thread-safe.
class BodyCompressor {
 public:
  // dictionary: empty for none; copied.
  BodyCompressor(int level, std::span<const std::byte> dictionary);
  ~BodyCompressor();
  // Appends the compressed body to `out` if it is shorter by an eighth or more, otherwise the body
  // itself. Returns the codec.
  BodyCodec append(std::span<const std::byte> body, std::vector<std::byte>* out);

 private:
  ZSTD_CCtx_s* context_;
  ZSTD_CDict_s* dictionary_ = nullptr;
};

// Decompresses bodies. Thread-safe.
class BodyDecompressor {
 public:
  explicit BodyDecompressor(std::span<const std::byte> dictionary);
  ~BodyDecompressor();
  BodyDecompressor(const BodyDecompressor&) = delete;
  BodyDecompressor& operator=(const BodyDecompressor&) = delete;
  // Returns kDamaged (R-BK-8), without offset or file, unless `stored` decodes to exactly
  // raw_length bytes; kLimit past kMaxBody.
  Result<std::vector<std::byte>> decode(BodyCodec codec, std::vector<std::byte> stored,
                                        std::uint64_t raw_length) const;

 private:
  ZSTD_DDict_s* dictionary_ = nullptr;
  std::uint32_t dictionary_id_ = 0;  // number that a frame may have; 0: none
};

// Returns a dictionary of at most 4096 bytes for bodies like `samples` (adjacent, with these
// lengths); empty if a dictionary would not help.
std::vector<std::byte> train_dictionary(std::span<const std::byte> samples,
                                        std::span<const std::size_t> lengths);

}  // namespace nmb
