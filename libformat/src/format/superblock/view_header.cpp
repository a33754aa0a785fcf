// Encodes and decodes the header of an HDF5 view (see view_header.h).
#include "format/superblock/view_header.h"

#include <algorithm>
#include <cstring>

#include "wire/endian.h"

namespace nmb {

static constexpr char kMagic[] = "\x89NMBVIEW";

std::array<std::byte, ViewHeader::kSize> ViewHeader::encode() const {
  std::array<std::byte, kSize> out{};
  std::memcpy(out.data(), kMagic, 8);
  store_le(&out[8], kViewVersion);
  store_le(&out[10], static_cast<std::uint16_t>(kSize));
  store_le(&out[12], (dimensions ? 0 : kNoDimensions) | (copies ? kCopies : 0));
  store_le(&out[16], file_id.low);
  store_le(&out[24], file_id.high);
  store_le(&out[32], position);
  store_le(&out[40], generation);
  return out;
}

std::uint16_t ViewHeader::version_of(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < kSize || std::memcmp(first_bytes.data(), kMagic, 8) != 0) return 0;
  return load_le<std::uint16_t>(&first_bytes[8]);
}

ViewHeader ViewHeader::decode(std::span<const std::byte> bytes) {
  const auto flags = load_le<std::uint32_t>(&bytes[12]);
  return {{load_le<std::uint64_t>(&bytes[16]), load_le<std::uint64_t>(&bytes[24])},
          load_le<std::uint64_t>(&bytes[32]),
          load_le<std::uint64_t>(&bytes[40]),
          (flags & kNoDimensions) == 0,
          (flags & kCopies) != 0};
}

Result<std::optional<ViewHeader>> ViewHeader::read(const ByteSource& file,
                                                   const Superblock& superblock) {
  const Place& view = superblock.view;
  if (view.absent()) return std::optional<ViewHeader>();
  std::array<std::byte, kSize> bytes{};
  NMB_TRY(file.read_at(view.position,
                       std::span(bytes).first(std::min<std::uint64_t>(view.length, kSize))));
  const std::uint16_t version = version_of(bytes);
  if (version == 0)
    return Status(Code::kDamaged, file.name(), view.position, "R-HV-2",
                  "found no header of an HDF5 view");
  return version == kViewVersion ? std::optional(decode(bytes)) : std::nullopt;
}

bool view_is_newest(const Superblock& superblock) {
  constexpr std::size_t kEndOfFile = 28;  // offset of a field in an HDF5 superblock of version 2
  return !superblock.view.absent() &&
         load_le<std::uint64_t>(&superblock.hdf5[kEndOfFile]) == superblock.file_length;
}

}  // namespace nmb
