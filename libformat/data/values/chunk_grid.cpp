#include "values/chunk_grid.h"

#include <algorithm>
#include <utility>

#include "model/extension.h"
#include "wire/checked.h"

namespace nmb {

std::vector<std::uint64_t> usual_chunk(std::span<const std::uint64_t> lengths,
                                       std::uint64_t value_size) {
  constexpr std::uint64_t kUsualChunk = 1 << 20;
  std::vector<std::uint64_t> chunk(lengths.begin(), lengths.end());
  std::uint64_t bytes = value_size;
  for (const std::uint64_t length : lengths)
    if (!checked_mul(bytes, length, &bytes)) return chunk;
  for (std::uint64_t& n : chunk) {
    if (bytes <= kUsualChunk) break;
    const std::uint64_t row = bytes / n;
    n = std::max<std::uint64_t>(1, kUsualChunk / row);
    bytes = row * n;
  }
  return chunk;
}

Result<ChunkGrid> ChunkGrid::make(Lengths lengths, Lengths chunk, std::uint64_t value_size) {
  ChunkGrid out;
  out.value_size_ = out.chunk_bytes_ = value_size;
  std::uint64_t table = 0;
  for (std::size_t i = 0; i < chunk.size(); ++i)
    if (!checked_mul(out.chunk_bytes_, chunk[i], &out.chunk_bytes_) ||
        !checked_mul(out.count_, chunks_along(lengths[i], chunk[i]), &out.count_) ||
        !checked_mul(out.count_, ChunkRow::kLength, &table))
      return Status(Code::kLimit, "the chunks are too large, or there are too many of them");
  out.lengths_ = std::move(lengths);
  out.chunk_ = std::move(chunk);
  return out;
}

std::uint64_t ChunkGrid::number_at(const Lengths& place) const {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < chunk_.size(); ++i)
    number = number * chunks_along(lengths_[i], chunk_[i]) + place[i];
  return number;
}

ChunkGrid::Lengths ChunkGrid::first_of(std::uint64_t number) const {
  Lengths first(chunk_.size());
  for (std::size_t i = first.size(); i-- > 0;) {
    const std::uint64_t along = chunks_along(lengths_[i], chunk_[i]);
    first[i] = number % along * chunk_[i];
    number /= along;
  }
  return first;
}

ChunkGrid::Lengths ChunkGrid::count_of(const Lengths& first) const {
  Lengths count(chunk_);
  for (std::size_t i = 0; i < count.size(); ++i)
    count[i] = std::min(count[i], lengths_[i] - first[i]);
  return count;
}

}  // namespace nmb
