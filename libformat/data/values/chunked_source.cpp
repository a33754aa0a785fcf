#include "values/chunked_source.h"

#include <algorithm>
#include <utility>

namespace nmb {

namespace {

// A read of a shorter run takes about as long as a longer one. So a chunk with many shorter runs is
// loaded once, for all of them.
constexpr std::size_t kShortRun = 4 << 10;
constexpr std::uint64_t kRowsAtOnce = 64;
constexpr std::size_t kMostRuns = 65536;

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
  std::vector<ChunkSlice> runs;
  while (!out.empty()) {
    runs.clear();
    while (!out.empty() && runs.size() < kMostRuns) {
      runs.push_back(first_run(offset, out));
      const std::size_t part = runs.back().out.size();
      offset += part;
      out = out.subspan(part);
    }
    std::ranges::stable_sort(runs, {}, &ChunkSlice::chunk);
    for (std::size_t first = 0, end = 0; first < runs.size(); first = end) {
      while (end < runs.size() && runs[end].chunk == runs[first].chunk) ++end;
      NMB_TRY(read_runs(std::span(runs).subspan(first, end - first)));
    }
  }
  return {};
}

// Returns the longest run at the beginning of `out`.
ChunkedSource::ChunkSlice ChunkedSource::first_run(std::uint64_t offset,
                                                   std::span<std::byte> out) const {
  const std::uint64_t in_value = offset % value_size_;
  std::uint64_t element = offset / value_size_;
  const std::uint64_t in_row = element % row_;
  // Computes the number of the chunk and the position of the element in it. `chunks` counts the
  // chunks along the faster dimensions, and `elements` the elements of a chunk along them.
  ChunkSlice run{0, 0, out};
  std::uint64_t chunks = 1, elements = 1, rows = 0;
  for (std::size_t i = lengths_.size(); i-- > 0; element /= lengths_[i]) {
    const std::uint64_t at = element % lengths_[i];
    run.chunk += at / chunk_[i] * chunks;
    run.place += at % chunk_[i] * elements;
    chunks *= (lengths_[i] + chunk_[i] - 1) / chunk_[i];
    elements *= chunk_[i];
    if (i == run_dimension_) rows = std::min(chunk_[i] - at % chunk_[i], lengths_[i] - at);
  }
  run.place = run.place * value_size_ + in_value;
  run.out = out.first(
      std::min<std::uint64_t>(out.size(), (rows * row_ - in_row) * value_size_ - in_value));
  return run;
}

Status ChunkedSource::read_runs(std::span<const ChunkSlice> runs) const {
  const std::uint64_t number = runs.front().chunk;
  NMB_ASSIGN(const ChunkRow row, row_of(number));
  const bool is_plain = table_.is_plain(row);
  ChunkCache::Chunk chunk;
  for (const ChunkSlice& run : runs) {
    const std::size_t part = run.out.size();
    // Other runs of an unfiltered chunk are read directly from the file, also if the read ends in
    // the middle of the chunk.
    if (is_plain && (part >= kShortRun || part >= table_.chunk_bytes() / 4)) {
      NMB_TRY(table_.read_stored(number, row, run.place, run.out));
      continue;
    }
    if (!chunk)
      NMB_ASSIGN(chunk, cache_->get(array_, number, [&] { return table_.load(number, row); }));
    if (chunk->empty())
      for (std::size_t i = 0; i < part; ++i) run.out[i] = fill_[(run.place + i) % value_size_];
    else
      std::copy_n(chunk->begin() + static_cast<std::ptrdiff_t>(run.place), part, run.out.begin());
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
