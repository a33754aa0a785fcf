#include "values/chunk_table.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

// A decoded chunk of more than kMostExpanded bytes may have at most kMostTimes as many bytes as its
// stored form (R-XC-1). HDF5's filter scaleoffset stores equal values in 21 bytes, however many
// they are.
static constexpr std::uint64_t kMostExpanded = 1 << 20, kMostExpandedByHdf5 = 64 << 20,
                               kMostTimes = 131072;

ChunkTable::ChunkTable(std::shared_ptr<const ByteSource> region, const Storage& storage,
                       std::uint64_t value_size)
    : region_(std::move(region)),
      filters_(storage.filters),
      value_size_(value_size),
      decodes_alone_(!first_foreign(storage.filters)),
      chunk_bytes_(value_size) {
  for (const std::uint64_t n : storage.chunk) chunk_bytes_ *= n;
  seen_->left = region_->size();
}

Status ChunkTable::damaged(std::uint64_t number, const std::string& message) const {
  return Status(Code::kDamaged, name(), kNoOffset, "R-XC-1",
                joined_text("chunk ", number, ": ", message));
}

Result<std::vector<ChunkRow>> ChunkTable::rows(std::uint64_t first, std::uint64_t count) const {
  std::vector<std::byte> bytes(count * ChunkRow::kLength);
  NMB_TRY(region_->read_at(first * ChunkRow::kLength, bytes));
  std::vector<ChunkRow> rows(count);
  const std::byte* at = bytes.data();
  for (ChunkRow& row : rows) {
    row = {load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8),
           load_le<std::uint32_t>(at + 16)};
    at += ChunkRow::kLength;
  }
  NMB_TRY(take_lengths(first, rows));
  return rows;
}

// Only rows that are read in order are counted, because a reader of a few chunks does not read the
// whole table.
Status ChunkTable::take_lengths(std::uint64_t first, std::span<const ChunkRow> rows) const {
  const std::scoped_lock lock(seen_->mutex);
  for (std::uint64_t number = first; const ChunkRow& row : rows) {
    if (number++ != seen_->rows) continue;
    if (seen_->left < ChunkRow::kLength || seen_->left - ChunkRow::kLength < row.stored_length)
      return Status(Code::kDamaged, name(), kNoOffset, "R-XC-2",
                    joined_text("found a table and chunks that have more bytes than the region's ",
                                region_->size()));
    seen_->left -= ChunkRow::kLength + row.stored_length;
    ++seen_->rows;
  }
  return {};
}

Status ChunkTable::check_place(std::uint64_t number, const ChunkRow& row) const {
  // A filter can make a chunk slightly longer.
  if (row.offset > region_->size() || row.stored_length > region_->size() - row.offset ||
      row.stored_length / 2 > chunk_bytes_ + 2048)
    return damaged(number, joined_text("found ", row.stored_length, " bytes at ", row.offset,
                                       " in a region of length ", region_->size()));
  return {};
}

Result<std::vector<std::byte>> ChunkTable::stored(std::uint64_t number, const ChunkRow& row) const {
  NMB_TRY(check_place(number, row));
  std::vector<std::byte> bytes(row.stored_length);
  NMB_TRY(region_->read_at(row.offset, bytes));
  return bytes;
}

Status ChunkTable::read_stored(std::uint64_t number, const ChunkRow& row, std::uint64_t begin,
                               std::span<std::byte> out) const {
  NMB_TRY(check_place(number, row));
  return region_->read_at(row.offset + begin, out);
}

Status ChunkTable::ended() const {
  const std::scoped_lock lock(ended_->mutex);
  return ended_->status;
}

Result<std::vector<std::byte>> ChunkTable::decode(std::uint64_t number, const ChunkRow& row) const {
  if (!decodes_alone_) NMB_TRY(ended());
  NMB_ASSIGN(std::vector<std::byte> bytes, stored(number, row));
  bool has_ended = false;
  Result<std::vector<std::byte>> chunk = decode_chunk(filters_, row.filter_mask, std::move(bytes),
                                                      chunk_bytes_, value_size_, &has_ended);
  if (chunk.ok() || chunk.status().code() != Code::kDamaged) return chunk;
  const Status failed = damaged(number, chunk.status().message());
  if (has_ended) {
    const std::scoped_lock lock(ended_->mutex);
    if (ended_->status.ok()) ended_->status = failed;
  }
  return failed;
}

Result<std::vector<std::byte>> ChunkTable::load(std::uint64_t number, const ChunkRow& row) const {
  if (row.stored_length == 0) return std::vector<std::byte>();
  if (chunk_bytes_ > (decodes_alone_ ? kMostExpanded : kMostExpandedByHdf5) &&
      chunk_bytes_ / kMostTimes > row.stored_length)
    return damaged(number, joined_text("found ", row.stored_length, " bytes that would decode to ",
                                       chunk_bytes_));
  // Threads decode at the same time as long as there is enough memory. A thread that gets no memory
  // waits until the others have finished, and then decodes alone.
  static std::shared_mutex alone;
  try {
    const std::shared_lock lock(alone);
    return decode(number, row);
  } catch (const std::bad_alloc&) {
  }
  try {
    const std::scoped_lock lock(alone);
    return decode(number, row);
  } catch (const std::bad_alloc&) {
    return Status(Code::kLimit, name(), kNoOffset, "",
                  joined_text("chunk ", number, ": its ", chunk_bytes_,
                              " bytes need more memory than is available"));
  }
}

Result<bool> ChunkTable::check(std::uint64_t number, const ChunkRow& row) const {
  if (is_plain(row)) {
    NMB_TRY(check_place(number, row));
    if (lies_in_file(row)) return true;
  }
  if (can_decode(filters_, row.filter_mask)) {
    if (!decodes_alone_ && !ended().ok()) return false;
    NMB_TRY(load(number, row).status());
    return true;
  }
  NMB_ASSIGN(std::vector<std::byte> bytes, stored(number, row));
  if (!has_sum(filters_, row.filter_mask)) return false;
  // The checksum of zeros is 0, so it does not show that bytes were lost and replaced by zeros.
  const bool is_lost = std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
  const Status sums =
      check_sums(filters_, row.filter_mask, std::move(bytes), chunk_bytes_, value_size_);
  if (!sums.ok()) return damaged(number, sums.message());
  return !is_lost;
}

// Returns whether all bytes of a chunk lie in a file that has no checksums of them.
bool ChunkTable::lies_in_file(const ChunkRow& row) const {
  bool all = true;
  const auto visit = [&](const PooledFile* file, std::uint64_t, std::uint64_t) {
    all &= file != nullptr;
    return Status();
  };
  return visit_stored(*region_, {row.offset, row.offset + row.stored_length}, visit).ok() && all;
}

bool ChunkTable::is_plain(const ChunkRow& row) const {
  bool any = false;
  for (std::size_t n = 0; n < filters_.size(); ++n)
    any |= n >= 32 || (row.filter_mask >> n & 1) == 0;
  return !any && row.stored_length == chunk_bytes_;
}

Result<std::vector<std::byte>> ChunkTable::load(std::uint64_t number) const {
  NMB_ASSIGN(const std::vector<ChunkRow> row, rows(number, 1));
  return load(number, row.front());
}

}  // namespace nmb
