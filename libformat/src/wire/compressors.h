// Deflate (zlib streams) and zstd frames in one call each; contexts are kept for each thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_DDict_s;

namespace nmb {

// The number of bytes that a decoder wrote; without length, the output has more bytes than `out` or
// the input is damaged.
struct Decoded {
  std::optional<std::size_t> length;
  bool wants_room = false;
};

// Decodes the stream at the begin of `stored` into `out`. *used: bytes of `stored` that the stream
// takes.
Decoded inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used);
// Decodes all of `stored`, one or several frames. dictionary: the dictionary of the frames, or
// nullptr.
Decoded decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out,
                    const ZSTD_DDict_s* dictionary = nullptr);

// Returns whether `stored` is one zstd frame that a file may have (spec/format.md, section 8.2):
// with a window of at most 2^27 bytes, no dictionary number other than `dictionary_id`, and nothing
// after it. length: of its content, which the frame may state.
bool is_allowed_frame(std::span<const std::byte> stored, std::uint64_t length,
                      std::uint32_t dictionary_id = 0);

// Calls decode(out) with larger and larger buffers up to `limit`: a file may state any length, so
// memory follows the decoded bytes. nullopt: damaged, or longer than `limit`.
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

// Returns the bytes written to `out`, or 0 if they do not fit. level: 1 to 12.
std::size_t deflate_zlib(std::span<const std::byte> bytes, std::span<std::byte> out, int level);
// Writes one frame. level: 1 to 19.
std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level);

}  // namespace nmb
