#include "superblock/mark.h"

#include <cstring>

#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

static constexpr char kMarkMagic[] = "\x89NMBMARK";
static constexpr std::size_t kMarkSumOffset = kMarkSize - 8;

std::array<std::byte, kMarkSize> Mark::encode() const {
  std::array<std::byte, kMarkSize> out{};
  std::byte* p = out.data();
  std::memcpy(p, kMarkMagic, 8);
  store_le(p + 8, generation);
  store_le(p + 16, file_length);
  store_le(p + 24, superblock_sum);
  store_le(p + 32, file_id.low);
  store_le(p + 40, file_id.high);
  store_le(p + kMarkSumOffset, sum_of(std::span(out).first(kMarkSumOffset)));
  return out;
}

bool Mark::has_magic(std::span<const std::byte> bytes) {
  return std::memcmp(bytes.data(), kMarkMagic, 8) == 0;
}

std::optional<Mark> Mark::decode(std::span<const std::byte> bytes) {
  const std::byte* p = bytes.data();
  if (!has_magic(bytes) ||
      load_le<std::uint64_t>(p + kMarkSumOffset) != sum_of(bytes.first(kMarkSumOffset)))
    return std::nullopt;
  Mark mark;
  mark.generation = load_le<std::uint64_t>(p + 8);
  mark.file_length = load_le<std::uint64_t>(p + 16);
  mark.superblock_sum = load_le<std::uint64_t>(p + 24);
  mark.file_id = {load_le<std::uint64_t>(p + 32), load_le<std::uint64_t>(p + 40)};
  mark.reserved_zero = load_le<std::uint64_t>(p + 48) == 0;
  return mark;
}

}  // namespace nmb
