#include "superblock/view_header.h"

#include <algorithm>
#include <cstring>

#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

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
  store_le(&out[48], next_number);
  store_le(&out[52], numbered_sources);
  store_le(&out[56], numbers_sum);
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
          (flags & kCopies) != 0,
          load_le<std::uint32_t>(&bytes[48]),
          load_le<std::uint32_t>(&bytes[52]),
          load_le<std::uint64_t>(&bytes[56])};
}

std::vector<std::byte> ViewNumbers::table() const {
  std::vector<std::byte> out(rows.size() * kRowSize);
  std::byte* at = out.data();
  for (const Row& row : rows) {
    store_le(at, row.order);
    store_le(at + 4, row.first);
    at += kRowSize;
  }
  return out;
}

void ViewHeader::set_numbers(const ViewNumbers& numbers) {
  next_number = numbers.next;
  numbered_sources = static_cast<std::uint32_t>(numbers.rows.size());
  numbers_sum = numbers.rows.empty() ? 0 : sum_of(numbers.table());
}

Result<ViewNumbers> ViewHeader::read_numbers(const ByteSource& file, const Place& view) const {
  const std::uint64_t length = std::uint64_t{numbered_sources} * ViewNumbers::kRowSize;
  if (view.length < kSize || length > view.length - kSize)
    return Status(Code::kDamaged, file.name(), view.position + 52, "R-HV-6",
                  joined_text("HDF5 view: found ", numbered_sources,
                              " numbered sources, expected as many as fit into the view"));
  std::vector<std::byte> table(length);
  NMB_TRY(file.read_at(view.position + view.length - length, table));
  const std::uint64_t sum = table.empty() ? 0 : sum_of(table);
  if (sum != numbers_sum)
    return Status(Code::kDamaged, file.name(), view.position + 56, "R-HV-6",
                  joined_text("HDF5 view: found a table of numbers with ", sum_text(sum),
                              ", expected ", sum_text(numbers_sum)));
  ViewNumbers numbers;
  numbers.next = next_number;
  numbers.rows.resize(numbered_sources);
  const std::byte* at = table.data();
  for (ViewNumbers::Row& row : numbers.rows) {
    row = {load_le<std::uint32_t>(at), load_le<std::uint32_t>(at + 4)};
    at += ViewNumbers::kRowSize;
  }
  for (std::size_t i = 1; i < numbers.rows.size(); ++i)
    if (numbers.rows[i].order <= numbers.rows[i - 1].order)
      return Status(Code::kDamaged, file.name(),
                    view.position + view.length - (numbers.rows.size() - i) * ViewNumbers::kRowSize,
                    "R-HV-6",
                    joined_text("HDF5 view: found a number of block ", numbers.rows[i].order,
                                ", expected a block after block ", numbers.rows[i - 1].order));
  return numbers;
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
