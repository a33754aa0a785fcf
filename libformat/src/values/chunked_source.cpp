// The array that chunks make (see values/chunked_source.h).
#include "values/chunked_source.h"

#include <algorithm>
#include <utility>

#include "values/chunk_filters.h"
#include "wire/endian.h"

namespace nmb {

ChunkedSource::ChunkedSource(std::shared_ptr<const ByteSource> region, const Storage& storage,
                             std::vector<std::uint64_t> lengths, std::uint64_t value_size,
                             std::vector<std::byte> fill, std::uint64_t size)
    : region_(std::move(region)),
      filters_(storage.filters),
      chunk_(storage.chunk),
      lengths_(std::move(lengths)),
      value_size_(value_size),
      fill_(std::move(fill)),
      size_(size),
      chunk_bytes_(value_size) {
  for (const std::uint64_t n : chunk_) chunk_bytes_ *= n;
}

Status ChunkedSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    return Status(Code::kDamaged, "found the end of a variable's values");
  const std::scoped_lock lock(mutex_);
  const std::size_t rank = lengths_.size();
  std::vector<std::uint64_t> at(rank);
  while (!out.empty()) {
    std::uint64_t element = offset / value_size_;
    for (std::size_t i = rank; i-- > 0; element /= lengths_[i]) at[i] = element % lengths_[i];
    // From `at` on in its row and its chunk.
    std::uint64_t number = 0, inner = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      number = number * ((lengths_[i] + chunk_[i] - 1) / chunk_[i]) + at[i] / chunk_[i];
      inner = inner * chunk_[i] + at[i] % chunk_[i];
    }
    const std::uint64_t in_value = offset % value_size_;
    const std::uint64_t in_row =
        std::min(chunk_.back() - at.back() % chunk_.back(), lengths_.back() - at.back());
    const auto part = static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size(), in_row * value_size_ - in_value));
    NMB_ASSIGN(const std::vector<std::byte>* chunk, chunk_at(number));
    const std::uint64_t place = inner * value_size_ + in_value;
    if (chunk->empty())
      for (std::size_t i = 0; i < part; ++i) out[i] = fill_[(place + i) % value_size_];
    else
      std::copy_n(chunk->begin() + static_cast<std::ptrdiff_t>(place), part, out.begin());
    offset += part;
    out = out.subspan(part);
  }
  return {};
}

Result<const std::vector<std::byte>*> ChunkedSource::chunk_at(std::uint64_t number) const {
  if (const auto found = cached_.find(number); found != cached_.end()) return &found->second;
  NMB_ASSIGN(std::vector<std::byte> chunk, load(number));
  while (!order_.empty() && (order_.size() + 1) * chunk_bytes_ > kCache) {
    cached_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(number);
  return &cached_.insert_or_assign(number, std::move(chunk)).first->second;
}

Result<std::vector<std::byte>> ChunkedSource::load(std::uint64_t number) const {
  std::byte row[ChunkRow::kLength];
  NMB_TRY(region_->read_at(number * ChunkRow::kLength, row));
  const auto place = load_le<std::uint64_t>(row), stored = load_le<std::uint64_t>(row + 8);
  const auto mask = load_le<std::uint32_t>(row + 16);
  const auto damaged = [&](const std::string& message) {
    return Status(Code::kDamaged, name(), kNoOffset, "R-XC-1",
                  "chunk " + std::to_string(number) + ": " + message);
  };
  if (stored == 0) return std::vector<std::byte>();
  // What a filter makes of a chunk may be longer, by little.
  if (place > region_->size() || stored > region_->size() - place ||
      stored > 2 * chunk_bytes_ + 4096)
    return damaged("found " + std::to_string(stored) + " bytes at " + std::to_string(place) +
                   " of a region of " + std::to_string(region_->size()));
  if (chunk_bytes_ > kMostExpanded && chunk_bytes_ / kMostTimes > stored)
    return damaged("found " + std::to_string(stored) + " bytes that make " +
                   std::to_string(chunk_bytes_));
  std::vector<std::byte> bytes(stored);
  NMB_TRY(region_->read_at(place, bytes));
  Result<std::vector<std::byte>> chunk =
      decode_chunk(filters_, mask, std::move(bytes), chunk_bytes_, value_size_);
  if (!chunk.ok() && chunk.status().code() == Code::kDamaged)
    return damaged(chunk.status().message());
  return chunk;
}

}  // namespace nmb
