#include "lzf_filter.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "hdf5_error.h"
#include "values/chunk_filters.h"
#include "wire/lzf.h"

namespace nmb::hdf5 {

namespace {

// Returns the bytes as an LZF stream (wire/lzf.h), or nothing if it would not be shorter.
std::vector<std::byte> encode_lzf(std::span<const std::byte> bytes) {
  constexpr std::size_t kMostLiterals = 32, kShortest = 3, kLongest = 264, kFarthest = 8192;
  std::vector<std::byte> out;
  // The end of the last 3 bytes with each hash.
  std::array<std::uint32_t, 1 << 14> ends{};
  const auto put = [&](std::size_t byte) { out.push_back(static_cast<std::byte>(byte & 0xFF)); };
  const auto value = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  std::size_t first = 0, at = 0;  // the first byte that is not yet encoded, and the next one
  const auto put_literals = [&] {
    while (first < at) {
      const std::size_t count = std::min(at - first, kMostLiterals);
      put(count - 1);
      for (const std::size_t end = first + count; first < end; ++first) out.push_back(bytes[first]);
    }
  };
  while (at + kShortest <= bytes.size() && out.size() < bytes.size()) {
    const std::uint32_t three = value(at) << 16 | value(at + 1) << 8 | value(at + 2);
    std::uint32_t& end = ends[(three * 2654435761u) >> 18];
    const std::size_t before = end;
    end = static_cast<std::uint32_t>(at + kShortest);
    const std::size_t distance = at + kShortest - before;
    if (before == 0 || distance > kFarthest ||
        std::memcmp(&bytes[before - kShortest], &bytes[at], kShortest) != 0) {
      ++at;
      continue;
    }
    std::size_t length = kShortest;
    while (length < kLongest && at + length < bytes.size() &&
           bytes[at + length] == bytes[at + length - distance])
      ++length;
    put_literals();
    const std::size_t code = length - 2;
    put(std::min<std::size_t>(code, 7) << 5 | (distance - 1) >> 8);
    if (code >= 7) put(code - 7);
    put(distance - 1);
    first = at += length;
  }
  at = bytes.size();
  put_literals();
  return out.size() < bytes.size() ? out : std::vector<std::byte>();
}

// Returns the decoded bytes, or nothing if the stream is damaged. expected: their usual number.
std::vector<std::byte> decode(std::span<const std::byte> bytes, std::size_t expected) {
  constexpr std::size_t kMostTimes = 264 / 3 + 1;  // a copy of 264 bytes takes 3 bytes
  for (std::size_t room = std::max<std::size_t>(expected, bytes.size());; room *= 2) {
    std::vector<std::byte> out(std::min(room, bytes.size() * kMostTimes));
    const Decoded done = decode_lzf(bytes, out);
    if (!done.length && done.wants_room && out.size() == room) continue;
    out.resize(done.length.value_or(0));
    return out;
  }
}

std::size_t run_lzf(unsigned flags, std::size_t count, const unsigned parameters[],
                    std::size_t bytes, std::size_t* room, void** buffer) noexcept {
  try {
    const std::span in(static_cast<const std::byte*>(*buffer), bytes);
    // h5py's third parameter is the length of a chunk.
    const std::vector<std::byte> out = (flags & H5Z_FLAG_REVERSE) != 0
                                           ? decode(in, count > 2 ? parameters[2] : bytes)
                                           : encode_lzf(in);
    if (out.empty()) return 0;
    void* const made = H5allocate_memory(out.size(), false);
    if (!made) return 0;
    std::memcpy(made, out.data(), out.size());
    H5free_memory(*buffer);
    *buffer = made;
    *room = out.size();
    return out.size();
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

Status register_lzf() {
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, kLzf, 1, 1, "lzf", nullptr, nullptr, run_lzf};
  return check_hdf5(H5Zregister(&filter), "lzf");
}

}  // namespace nmb::hdf5
