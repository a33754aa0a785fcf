#include "block/block_header.h"

#include <cstring>

#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace at = in_block_header;

namespace {

constexpr char kMagic[] = "\x89NMBBLCK";

std::uint64_t header_sum(std::span<const std::byte> header_and_name) {
  SumStream stream;
  stream.add(header_and_name.first(at::kSum));
  stream.add(header_and_name.subspan(kBlockHeaderSize));
  return stream.sum();
}

}  // namespace

void BlockHeader::encode(std::string_view name, std::span<std::byte> out) {
  name_length = static_cast<std::uint16_t>(name.size());
  std::byte* p = out.data();
  std::memset(p, 0, out.size());
  std::memcpy(p, kMagic, 8);
  store_le<std::uint8_t>(p + 8, 1);
  store_le(p + at::kCodec, codec);
  store_le(p + at::kKind, kind);
  store_le(p + at::kFlags, flags);
  store_le(p + at::kNameLength, name_length);
  store_le(p + at::kFileId, origin.file_id.low);
  store_le(p + at::kFileId + 8, origin.file_id.high);
  store_le(p + at::kPosition, position);
  store_le(p + at::kGeneration, origin.generation);
  store_le(p + at::kStoredLength, stored_length);
  store_le(p + at::kRawLength, raw_length);
  store_le(p + at::kExtentPosition, extent_position);
  store_le(p + at::kExtentLength, extent_length);
  store_le(p + at::kExtentSum, extent_sum);
  store_le(p + at::kRecords, records);
  store_le(p + at::kSamples, samples);
  store_le(p + at::kOrder, order);
  store_le(p + at::kDigest, digest.low);
  store_le(p + at::kDigest + 8, digest.high);
  store_le(p + at::kBodySum, body_sum);
  store_le(p + at::kStamp, origin.stamp);
  std::memcpy(p + kBlockHeaderSize, name.data(), name.size());
  sum = header_sum(out);
  store_le(p + at::kSum, sum);
}

bool BlockHeader::decode(std::span<const std::byte> bytes, std::uint64_t at, BlockHeader* header,
                         std::string_view* name, Findings& findings) {
  const std::byte* p = bytes.data();
  auto report = [&](const char* rule, std::uint64_t offset, std::string found,
                    std::string expected) {
    findings.report({rule, at + offset, "block header", std::move(found), std::move(expected)});
    return false;
  };
  if (bytes.size() < kBlockHeaderSize || std::memcmp(p, kMagic, 8) != 0 ||
      load_le<std::uint8_t>(p + 8) != 1)
    return report("R-BK-1", 0, "a wrong magic or version", "a block header");
  const std::uint16_t length = load_le<std::uint16_t>(p + at::kNameLength);
  if (block_body_offset(length) > bytes.size())
    return report("R-BK-2", 0, joined_text("a name of ", length, " bytes"),
                  "a name that ends within the block");
  auto whole = bytes.first(block_body_offset(length));
  header->sum = load_le<std::uint64_t>(p + at::kSum);
  if (const std::uint64_t sum = header_sum(whole); sum != header->sum)
    return report("R-BK-2", 0, sum_text(sum), sum_text(header->sum));
  header->codec = load_le<std::uint8_t>(p + at::kCodec);
  header->kind = load_le<std::uint16_t>(p + at::kKind);
  header->flags = load_le<std::uint16_t>(p + at::kFlags);
  header->position = load_le<std::uint64_t>(p + at::kPosition);
  header->origin.file_id = {load_le<std::uint64_t>(p + at::kFileId),
                            load_le<std::uint64_t>(p + at::kFileId + 8)};
  header->origin.generation = load_le<std::uint64_t>(p + at::kGeneration);
  header->origin.stamp = load_le<std::uint64_t>(p + at::kStamp);
  header->stored_length = load_le<std::uint64_t>(p + at::kStoredLength);
  header->raw_length = load_le<std::uint64_t>(p + at::kRawLength);
  header->name_length = length;
  header->extent_position = load_le<std::uint64_t>(p + at::kExtentPosition);
  header->extent_length = load_le<std::uint64_t>(p + at::kExtentLength);
  header->extent_sum = load_le<std::uint64_t>(p + at::kExtentSum);
  header->records = load_le<std::uint64_t>(p + at::kRecords);
  header->samples = load_le<std::uint64_t>(p + at::kSamples);
  header->order = load_le<std::uint64_t>(p + at::kOrder);
  header->digest = {load_le<std::uint64_t>(p + at::kDigest),
                    load_le<std::uint64_t>(p + at::kDigest + 8)};
  header->body_sum = load_le<std::uint64_t>(p + at::kBodySum);
  *name = {reinterpret_cast<const char*>(p) + kBlockHeaderSize, length};
  if (std::size_t bad = first_nonzero(whole.subspan(kBlockHeaderSize + length)); bad != kAllZero)
    report("R-BK-5", kBlockHeaderSize + length + bad, "a byte of padding that is not 0", "0");
  return true;
}

}  // namespace nmb
