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

// What a decoder made of its input: the bytes that it wrote; without length: it has no more room
// than `out`, or the input is damaged.
struct Decoded {
  std::optional<std::size_t> length;
  bool wants_room = false;
};

// The stream that `stored` begins with, into `out`. *used: bytes of `stored` that the stream takes.
Decoded inflate_zlib(std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used);
// All of `stored`: one frame or several. dictionary: with which they were made, or nullptr.
Decoded decode_zstd(std::span<const std::byte> stored, std::span<std::byte> out,
                    const ZSTD_DDict_s* dictionary = nullptr);

// Whether `stored` is one zstd frame that a file may have (spec/format.md, section 8.2): with a
// window of at most 2^27 bytes, without a dictionary's number other than `dictionary_id`, and
// nothing behind it. length: of its content, which it may tell.
bool is_allowed_frame(std::span<const std::byte> stored, std::uint64_t length,
                      std::uint32_t dictionary_id = 0);

// Calls decode(out) with more and more room up to `limit`: a file may claim any length, and memory
// goes with what was decoded. nullopt: damaged, or longer than `limit`.
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

// Bytes written to `out`; 0: there is no room for them. level: 1 to 12.
std::size_t deflate_zlib(std::span<const std::byte> bytes, std::span<std::byte> out, int level);
// A frame. level: 1 to 19.
std::size_t encode_zstd(std::span<const std::byte> bytes, std::span<std::byte> out, int level);

}  // namespace nmb
