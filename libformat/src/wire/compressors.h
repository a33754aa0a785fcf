// Deflate (zlib streams) and zstd frames in one call each; contexts are kept for each thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace nmb {

// What `stored` begins with, decoded into `out`: how many bytes; nullopt: it does not decode, or to
// more. *used: bytes of `stored` that the stream takes.
std::optional<std::size_t> inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                                        std::size_t* used);
// All of `stored`: one frame or several.
std::optional<std::size_t> decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out);

// Bytes written to `out`; 0: there is no room for them. level: 1 to 12.
std::size_t deflate_zlib(std::span<const std::byte> bytes, std::span<std::byte> out, int level);
// A frame. level: 1 to 19.
std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level);
// The same with a block for each `block` bytes: longer.
std::size_t encode_zstd_in_blocks(std::span<const std::byte> bytes, std::span<std::byte> out,
                                  int level, std::size_t block);

}  // namespace nmb
