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

// The result of a decoder. length: number of bytes that the decoder wrote; not set if decoding
// failed. Decoding fails if `out` is too small (wants_room is then true) or the input is damaged.
struct Decoded {
  std::optional<std::size_t> length;
  bool wants_room = false;
};

// Decodes the stream at the beginning of `stored` into `out`. Sets *used to the length of the
// stream in `stored`.
Decoded inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used);
// Decodes all of `stored`, which has one or several frames. dictionary: the dictionary of the
// frames, or nullptr.
Decoded decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out,
                    const ZSTD_DDict_s* dictionary = nullptr);

// Returns whether `stored` is exactly one zstd frame, and the format allows this frame
// (spec/format.md, section 8.2): its window has at most 2^27 bytes, it states no dictionary ID or
// `dictionary_id`, and if it states its decoded length, this is `length`.
bool is_allowed_frame(std::span<const std::byte> stored, std::uint64_t length,
                      std::uint32_t dictionary_id = 0);

// Calls decode(out) with larger and larger buffers of up to `limit` bytes, because a damaged file
// may state any length and memory should grow only as bytes are decoded. Returns nullopt if the
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

// Compresses `bytes` to a zlib stream in `out`. Returns the length of the stream, or 0 if it does
// not fit. level: 1 to 12.
std::size_t deflate_zlib(std::span<const std::byte> bytes, std::span<std::byte> out, int level);
// Compresses `bytes` like deflate_zlib(), but to one zstd frame. level: 1 to 19.
std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level);

}  // namespace nmb
