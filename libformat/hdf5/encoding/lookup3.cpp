// The input is read as little-endian words of four bytes; an incomplete last word is filled with
// zeros.
#include "encoding/lookup3.h"

#include <array>
#include <bit>
#include <cstring>

#include "wire/endian.h"

namespace nmb {

namespace {

using State = std::array<std::uint32_t, 3>;

// Subtracts `y` from `x`, combines `x` with rotated `y`, and adds `z` to `y`.
void stir(std::uint32_t& x, std::uint32_t& y, std::uint32_t z, int turn) {
  x -= y;
  x ^= std::rotl(y, turn);
  y += z;
}

void mix(State& s) {
  stir(s[0], s[2], s[1], 4);
  stir(s[1], s[0], s[2], 6);
  stir(s[2], s[1], s[0], 8);
  stir(s[0], s[2], s[1], 16);
  stir(s[1], s[0], s[2], 19);
  stir(s[2], s[1], s[0], 4);
}

void settle(std::uint32_t& x, std::uint32_t y, int turn) {
  x ^= y;
  x -= std::rotl(y, turn);
}

void finish(State& s) {
  settle(s[2], s[1], 14);
  settle(s[0], s[2], 11);
  settle(s[1], s[0], 25);
  settle(s[2], s[1], 16);
  settle(s[0], s[2], 4);
  settle(s[1], s[0], 14);
  settle(s[2], s[1], 24);
}

void add(State& s, const std::byte* words) {
  for (std::size_t i = 0; i < 3; ++i) s[i] += load_le<std::uint32_t>(words + 4 * i);
}

}  // namespace

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  constexpr std::size_t kRound = 12;
  const std::uint32_t start = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  State state{start, start, start};
  for (; bytes.size() > kRound; bytes = bytes.subspan(kRound)) {
    add(state, bytes.data());
    mix(state);
  }
  if (bytes.empty()) return state[2];
  std::byte last[kRound]{};
  std::memcpy(last, bytes.data(), bytes.size());
  add(state, last);
  finish(state);
  return state[2];
}

}  // namespace nmb
