#include "wire/lzf.h"

#include <cstring>

namespace nmb {

namespace {

constexpr std::size_t kStep = 8;

// Copies `count` bytes in steps of 8. Up to 7 bytes more are read and written. `to` may lie 8 bytes
// or more behind `from`.
void copy_in_steps(std::byte* to, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kStep) std::memcpy(to + i, from + i, kStep);
}

}  // namespace

Decoded decode_lzf(std::span<const std::byte> stored, std::span<std::byte> out) {
  constexpr std::size_t kLiterals = 32, kLongLength = 7;
  const auto value = [&](std::size_t i) { return std::to_integer<std::size_t>(stored[i]); };
  std::size_t at = 0, end = 0;  // the next byte of `stored`, and the end of the output
  while (at < stored.size()) {
    const std::size_t control = value(at++);
    if (control < kLiterals) {
      const std::size_t count = control + 1;
      if (count > stored.size() - at) return {};
      if (count > out.size() - end) return {{}, true};
      if (count + kStep <= stored.size() - at && count + kStep <= out.size() - end)
        copy_in_steps(out.data() + end, stored.data() + at, count);
      else
        std::memcpy(out.data() + end, stored.data() + at, count);
      at += count;
      end += count;
      continue;
    }
    std::size_t count = control >> 5;
    if (count == kLongLength) {
      if (at == stored.size()) return {};
      count += value(at++);
    }
    count += 2;
    if (at == stored.size()) return {};
    const std::size_t distance = ((control & 31) << 8 | value(at++)) + 1;
    if (distance > end) return {};
    if (count > out.size() - end) return {{}, true};
    std::byte* const to = out.data() + end;
    // A copy from nearby repeats what it has just written.
    if (distance == 1)
      std::memset(to, std::to_integer<int>(to[-1]), count);
    else if (distance >= kStep && count + kStep <= out.size() - end)
      copy_in_steps(to, to - distance, count);
    else
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i - distance];
    end += count;
  }
  return {end, false};
}

}  // namespace nmb
