// Presents chunks as one array (see values/chunked_source.h).
#include "values/chunked_source.h"

#include <algorithm>
#include <utility>

namespace nmb {

namespace {

constexpr std::size_t kLongRun = 64 << 10;
constexpr std::uint64_t kRowsAtOnce = 64;

}  // namespace

ChunkedSource::ChunkedSource(std::shared_ptr<const ByteSource> region, const Storage& storage,
                             std::vector<std::uint64_t> lengths, std::uint64_t value_size,
                             std::vector<std::byte> fill, std::uint64_t size,
                             std::shared_ptr<ChunkCache> cache)
    : table_(std::move(region), storage, value_size),
      chunk_(storage.chunk),
      lengths_(std::move(lengths)),
      value_size_(value_size),
      fill_(std::move(fill)),
      size_(size),
      cache_(std::move(cache)),
      array_(cache_->add_array()) {
  for (std::size_t i = 0; i < lengths_.size(); ++i)
    chunks_ *= lengths_[i] / chunk_[i] + (lengths_[i] % chunk_[i] != 0);
  run_dimension_ = lengths_.size() - 1;
  for (; run_dimension_ > 0 && chunk_[run_dimension_] == lengths_[run_dimension_]; --run_dimension_)
    row_ *= lengths_[run_dimension_];
}

Status ChunkedSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    return Status(Code::kDamaged, "a read goes beyond the end of a variable's values");
  const std::size_t rank = lengths_.size();
  std::vector<std::uint64_t> at(rank);
  ChunkCache::Chunk chunk;
  std::uint64_t of_chunk = 0;
  while (!out.empty()) {
    std::uint64_t element = offset / value_size_;
    const std::uint64_t in_row = element % row_;
    for (std::size_t i = rank; i-- > 0; element /= lengths_[i]) at[i] = element % lengths_[i];
    // Computes the number of the chunk, and the position of the element in the chunk.
    std::uint64_t number = 0, inner = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      number = number * ((lengths_[i] + chunk_[i] - 1) / chunk_[i]) + at[i] / chunk_[i];
      inner = inner * chunk_[i] + at[i] % chunk_[i];
    }
    const std::uint64_t in_value = offset % value_size_;
    const std::size_t d = run_dimension_;
    const std::uint64_t rows = std::min(chunk_[d] - at[d] % chunk_[d], lengths_[d] - at[d]);
    const auto part =
        std::min<std::uint64_t>(out.size(), (rows * row_ - in_row) * value_size_ - in_value);
    const std::uint64_t place = inner * value_size_ + in_value;
    const auto here = out.first(part);
    offset += part;
    out = out.subspan(part);
    if (!chunk || number != of_chunk) {
      NMB_ASSIGN(const ChunkRow row, row_of(number));
      // If a chunk is not filtered, long runs of values are read directly from the file.
      if ((part >= kLongRun || part >= table_.chunk_bytes() / 4) && table_.is_plain(row)) {
        NMB_TRY(table_.read_plain(number, row, place, here));
        continue;
      }
      NMB_ASSIGN(chunk, cache_->get(array_, number, [&] { return table_.load(number, row); }));
      of_chunk = number;
    }
    if (chunk->empty())
      for (std::size_t i = 0; i < part; ++i) here[i] = fill_[(place + i) % value_size_];
    else
      std::copy_n(chunk->begin() + static_cast<std::ptrdiff_t>(place), part, here.begin());
  }
  return {};
}

Result<ChunkRow> ChunkedSource::row_of(std::uint64_t number) const {
  const std::scoped_lock lock(rows_mutex_);
  if (number < first_row_ || number - first_row_ >= rows_.size()) {
    rows_.clear();
    NMB_ASSIGN(rows_, table_.rows(number, std::min(kRowsAtOnce, chunks_ - number)));
    first_row_ = number;
  }
  return rows_[number - first_row_];
}

}  // namespace nmb
