// Compresses and decompresses bodies. A stored body is either uncompressed or one zstd frame, which
// may use the file's dictionary (spec/format.md, sections 8.2 and 8.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block/block_header.h"
#include "wire/failure.h"

struct ZSTD_CDict_s;
struct ZSTD_DDict_s;
struct ZSTD_CCtx_s;

namespace nmb {

// Largest ratio of raw bytes to stored bytes in a compressed body or piece.
inline constexpr std::uint64_t kMaxExpansion = 131072;
// The most raw bytes of a compressed body. Larger bodies are refused, because a body is decoded in
// memory.
inline constexpr std::uint64_t kMaxBody = std::uint64_t{1} << 30;

// Compresses bodies. Not thread-safe.
class BodyCompressor {
 public:
  // dictionary: copied; empty if the file has none.
  BodyCompressor(int level, std::span<const std::byte> dictionary);
  ~BodyCompressor();
  // Appends the body to *out, compressed if this saves at least an eighth of the bytes. Returns the
  // codec that was used.
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
  // Returns the raw body. Errors: kDamaged (R-BK-8), without offset and file, if `stored` does not
  // decode to exactly `raw_length` bytes; kLimit if `raw_length` is greater than kMaxBody.
  Result<std::vector<std::byte>> decode(BodyCodec codec, std::vector<std::byte> stored,
                                        std::uint64_t raw_length) const;

 private:
  ZSTD_DDict_s* dictionary_ = nullptr;
  std::uint32_t dictionary_id_ = 0;  // dictionary number that a frame may state; 0 means no number
};

// Returns a dictionary of at most 4096 bytes for bodies that resemble the samples, or no bytes if a
// dictionary would not help. samples: the sample bodies one after another. lengths: their lengths.
std::vector<std::byte> train_dictionary(std::span<const std::byte> samples,
                                        std::span<const std::size_t> lengths);

}  // namespace nmb
