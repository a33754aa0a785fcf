#include "wire/lzf.h"

#include <cstring>

namespace nmb {

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
    if (distance >= count)
      std::memcpy(to, to - distance, count);
    else  // the copy repeats what it has just written
      for (std::size_t i = 0; i < count; ++i) to[i] = to[i - distance];
    end += count;
  }
  return {end, false};
}

}  // namespace nmb
