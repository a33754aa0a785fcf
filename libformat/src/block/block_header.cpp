// The header ahead of every block's body (spec/format.md, section 8).
#include "block/block_header.h"

#include <cstring>

#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

namespace {

constexpr char kMagic[] = "\x89NMBBLCK";
constexpr std::size_t kSumOffset = 152;

std::uint64_t header_sum(std::span<const std::byte> header_and_name) {
  SumStream stream;
  stream.add(header_and_name.first(kSumOffset));
  stream.add(header_and_name.subspan(kBlockHeaderSize));
  return stream.sum();
}

}  // namespace

void BlockHeader::encode(std::string_view name, std::span<std::byte> out) {
  name_length = static_cast<std::uint32_t>(name.size());
  std::byte* p = out.data();
  std::memset(p, 0, out.size());
  std::memcpy(p, kMagic, 8);
  store_le<std::uint16_t>(p + 8, 1);
  store_le(p + 10, kind);
  store_le(p + 12, codec);
  store_le(p + 14, flags);
  store_le(p + 16, origin.file_id.low);
  store_le(p + 24, origin.file_id.high);
  store_le(p + 32, position);
  store_le(p + 40, origin.generation);
  store_le(p + 48, stored_length);
  store_le(p + 56, raw_length);
  store_le(p + 64, name_length);
  store_le(p + 72, extent_position);
  store_le(p + 80, extent_length);
  store_le(p + 88, extent_sum);
  store_le(p + 96, records);
  store_le(p + 104, samples);
  store_le(p + 112, order);
  store_le(p + 120, digest.low);
  store_le(p + 128, digest.high);
  store_le(p + 136, body_sum);
  store_le(p + 144, origin.stamp);
  std::memcpy(p + kBlockHeaderSize, name.data(), name.size());
  sum = header_sum(out);
  store_le(p + kSumOffset, sum);
}

bool BlockHeader::decode(std::span<const std::byte> bytes, std::uint64_t at, BlockHeader* header,
                         std::string_view* name, Findings& findings, bool reserved_in_use) {
  const std::byte* p = bytes.data();
  auto report = [&](const char* rule, std::uint64_t offset, std::string found,
                    std::string expected) {
    findings.report({rule, at + offset, "block header", std::move(found), std::move(expected)});
    return false;
  };
  if (bytes.size() < kBlockHeaderSize || std::memcmp(p, kMagic, 8) != 0 ||
      load_le<std::uint16_t>(p + 8) != 1)
    return report("R-BK-1", 0, "another magic or version", "a block's");
  const std::uint32_t length = load_le<std::uint32_t>(p + 64);
  if (length > 65535 || block_body_offset(length) > bytes.size())
    return report("R-BK-2", 0, "a wrong sum", "the sum of header and name");
  auto whole = bytes.first(block_body_offset(length));
  header->sum = load_le<std::uint64_t>(p + kSumOffset);
  if (header->sum != header_sum(whole))
    return report("R-BK-2", 0, "a wrong sum", "the sum of header and name");
  header->kind = load_le<std::uint16_t>(p + 10);
  header->codec = load_le<std::uint16_t>(p + 12);
  header->flags = load_le<std::uint16_t>(p + 14);
  header->position = load_le<std::uint64_t>(p + 32);
  header->origin.file_id = {load_le<std::uint64_t>(p + 16), load_le<std::uint64_t>(p + 24)};
  header->origin.generation = load_le<std::uint64_t>(p + 40);
  header->origin.stamp = load_le<std::uint64_t>(p + 144);
  header->stored_length = load_le<std::uint64_t>(p + 48);
  header->raw_length = load_le<std::uint64_t>(p + 56);
  header->name_length = length;
  header->extent_position = load_le<std::uint64_t>(p + 72);
  header->extent_length = load_le<std::uint64_t>(p + 80);
  header->extent_sum = load_le<std::uint64_t>(p + 88);
  header->records = load_le<std::uint64_t>(p + 96);
  header->samples = load_le<std::uint64_t>(p + 104);
  header->order = load_le<std::uint64_t>(p + 112);
  header->digest = {load_le<std::uint64_t>(p + 120), load_le<std::uint64_t>(p + 128)};
  header->body_sum = load_le<std::uint64_t>(p + 136);
  *name = {reinterpret_cast<const char*>(p) + kBlockHeaderSize, length};
  constexpr std::size_t kReserved = 68, kReservedLength = 4;
  if (std::size_t bad = first_nonzero(bytes.subspan(kReserved, kReservedLength));
      !reserved_in_use && bad != kAllZero)
    report("R-BK-5", kReserved + bad, "reserved bytes that are not zero", "0");
  if (std::size_t bad = first_nonzero(whole.subspan(kBlockHeaderSize + length)); bad != kAllZero)
    report("R-BK-5", kBlockHeaderSize + length + bad, "padding that is not zero", "0");
  return true;
}

}  // namespace nmb
