// Compresses and decompresses zlib streams (deflate) and zstd frames. Each call processes a whole
// stream or frame. Every thread keeps its own contexts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_DDict_s;

namespace nmb {

// The result of a decoder. length: number of bytes that the decoder wrote. If `length` is not set,
// decoding failed: either `out` was too small (wants_room is true), or the input is damaged.
struct Decoded {
  std::optional<std::size_t> length;
  bool wants_room = false;
};

// Decodes the stream at the beginning of `stored` into `out`. Sets *used to the number of bytes of
// `stored` that belong to the stream.
Decoded inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used);
// Decodes all of `stored`, which has one or several frames. dictionary: the dictionary of the
// frames, or nullptr.
Decoded decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out,
                    const ZSTD_DDict_s* dictionary = nullptr);

// Returns whether `stored` is a single zstd frame that a file may have (spec/format.md, section
// 8.2). The frame must have a window of at most 2^27 bytes, and no dictionary number other than
// `dictionary_id`. No bytes may follow the frame. length: number of decoded bytes. If the frame
// states its decoded length, the stated length must be `length`.
bool is_allowed_frame(std::span<const std::byte> stored, std::uint64_t length,
                      std::uint32_t dictionary_id = 0);

// Calls decode(out) with larger and larger buffers of up to `limit` bytes. A damaged file may state
// any length. So memory is allocated step by step, as bytes are decoded. Returns nullopt if the
// input is damaged or decodes to more than `limit` bytes.
template <class Decode>
std::optional<std::vector<std::byte>> decode_growing(std::size_t stored, std::uint64_t limit,
                                                     Decode decode) {
  constexpr std::uint64_t kAtOnce = 1 << 20, kUsualTimes = 16, kMore = 4;
  std::vector<std::byte> out;
  for (std::uint64_t room = std::min(limit, std::max(kAtOnce, stored * kUsualTimes));;
       room = room > limit / kMore ? limit : room * kMore) {
    out = std::vector<std::byte>(room);
    const Decoded decoded = decode(std::span(out));
    if (decoded.length) {
      out.resize(*decoded.length);
      return out;
    }
    if (!decoded.wants_room || room == limit) return std::nullopt;
  }
}

// Compresses `bytes` to a zlib stream. Returns the number of bytes written to `out`, or 0 if the
// stream does not fit into `out`. level: 1 to 12.
std::size_t deflate_zlib(std::span<const std::byte> bytes, std::span<std::byte> out, int level);
// Works like deflate_zlib(), but writes one zstd frame. level: 1 to 19.
std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level);

}  // namespace nmb
