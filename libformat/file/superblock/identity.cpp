#include "superblock/identity.h"

#include <cstring>

#include "superblock/head_layout.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

static constexpr char kIdentityMagic[] = "\x89NMB\r\n\x1a\n";
static constexpr std::size_t kIdentitySumOffset = kIdentitySize - 8;
static constexpr std::size_t kReservedOffset = 40;

bool Identity::has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data(), kIdentityMagic, 8) == 0;
}

std::array<std::byte, kIdentitySize> Identity::encode() const {
  std::array<std::byte, kIdentitySize> out{};
  std::memcpy(out.data(), kIdentityMagic, 8);
  store_le<std::uint16_t>(&out[8], 1);
  store_le<std::uint16_t>(&out[10], kIdentitySize);
  store_le<std::uint16_t>(&out[12], 1);
  store_le<std::uint16_t>(&out[14], 2);
  store_le<std::uint32_t>(&out[16], kSlotUnit);
  store_le<std::uint32_t>(&out[20], kFirstSlot);
  store_le(&out[24], file_id.low);
  store_le(&out[32], file_id.high);
  store_le(&out[kIdentitySumOffset], sum_of(std::span(out).first(kIdentitySumOffset)));
  return out;
}

bool Identity::decode(std::span<const std::byte> bytes, std::uint64_t position, Identity* identity,
                      Findings& findings) {
  const std::byte* p = bytes.data();
  if (!has_magic(bytes)) {
    findings.report({"R-ID-1", position, "identity", "another magic", "89 4E 4D 42 0D 0A 1A 0A"});
    return false;
  }
  const std::uint64_t sum = sum_of(bytes.first(kIdentitySumOffset));
  if (const auto expected = load_le<std::uint64_t>(p + kIdentitySumOffset); sum != expected) {
    findings.report({"R-ID-2", position, "identity", sum_text(sum), sum_text(expected)});
    return false;
  }
  auto check = [&](std::size_t offset, std::uint64_t found, std::uint64_t expected,
                   const char* what) {
    if (found == expected) return;
    findings.report({"R-ID-3", position + offset, "identity", joined_text(what, " ", found),
                     std::to_string(expected), Severity::kUnsupported});
    identity->supported = false;
  };
  check(8, load_le<std::uint16_t>(p + 8), 1, "major version");
  check(10, load_le<std::uint16_t>(p + 10), kIdentitySize, "size");
  check(12, load_le<std::uint16_t>(p + 12), 1, "sum algorithm");
  check(14, load_le<std::uint16_t>(p + 14), 2, "slots");
  check(16, load_le<std::uint32_t>(p + 16), kSlotUnit, "slot unit");
  check(20, load_le<std::uint32_t>(p + 20), kFirstSlot, "first slot");
  identity->file_id = {load_le<std::uint64_t>(p + 24), load_le<std::uint64_t>(p + 32)};
  return identity->supported;
}

void Identity::check_reserved(std::span<const std::byte> bytes, std::uint64_t position,
                              Findings& findings) {
  std::size_t bad =
      first_nonzero(bytes.subspan(kReservedOffset, kIdentitySumOffset - kReservedOffset));
  if (bad != kAllZero)
    findings.report(
        {"R-ID-4", position + kReservedOffset + bad, "identity", "a byte that is not zero", "0"});
}

}  // namespace nmb
