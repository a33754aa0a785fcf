// Puts a chunk together from other chunks (see convert/gathered_chunk.h).
#include "convert/gathered_chunk.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "convert/chunk_coder.h"

namespace nmb {

namespace {

using Lengths = std::vector<std::uint64_t>;

// Advances `at` to the next index of a box in row-major order. Returns false at the end.
bool next_index(Lengths* at, const Lengths& low, const Lengths& high, std::size_t rank) {
  for (std::size_t i = rank; i-- > 0;) {
    if (++(*at)[i] < high[i]) return true;
    (*at)[i] = low[i];
  }
  return false;
}

// Copies a box from one array to another. An empty `from` means that all values are `fill`.
struct BoxCopy {
  std::span<const std::byte> from;
  const Lengths& from_lengths;
  const Lengths& from_first;
  std::span<std::byte> to;
  const Lengths& to_lengths;
  const Lengths& to_first;
  const Lengths& count;
  std::span<const std::byte> fill;

  void run() const {
    const std::size_t rank = count.size(), size = fill.size();
    const std::uint64_t row = count[rank - 1] * size;
    Lengths at(rank, 0);
    const Lengths zero(rank, 0);
    do {
      std::uint64_t source = 0, target = 0;
      for (std::size_t i = 0; i < rank; ++i) {
        source = source * from_lengths[i] + from_first[i] + at[i];
        target = target * to_lengths[i] + to_first[i] + at[i];
      }
      std::byte* const out = to.data() + target * size;
      if (from.empty())
        for (std::uint64_t byte = 0; byte < row; byte += size) std::ranges::copy(fill, out + byte);
      else
        std::copy_n(from.data() + source * size, row, out);
    } while (next_index(&at, zero, count, rank - 1));
  }
};

Result<ChunkCache::Chunk> chunk_of(const BoxInChunks& box, std::uint64_t number) {
  ChunkCache::Chunk chunk = box.cache->find(box.array, number);
  if (chunk) return chunk;
  const std::scoped_lock lock(box.cache->loading(box.array, number));
  chunk = box.cache->find(box.array, number);
  if (chunk) return chunk;
  NMB_ASSIGN(std::vector<std::byte> bytes, box.table->load(number));
  chunk = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  box.cache->put(box.array, number, chunk);
  return chunk;
}

}  // namespace

GatheredChunk::GatheredChunk(std::vector<std::uint64_t> first, std::vector<std::uint64_t> count,
                             const std::vector<std::uint64_t>& chunk,
                             std::span<const std::byte> fill)
    : first_(std::move(first)), count_(std::move(count)), chunk_(chunk), value_size_(fill.size()) {
  std::uint64_t bytes = value_size_;
  for (const std::uint64_t n : chunk_) bytes *= n;
  bytes_.resize(bytes);
  if (count_ == chunk_) return;
  for (std::uint64_t byte = 0; byte < bytes; byte += value_size_)
    std::ranges::copy(fill, bytes_.begin() + static_cast<std::ptrdiff_t>(byte));
}

std::uint64_t GatheredChunk::wanted() const {
  std::uint64_t values = 1;
  for (const std::uint64_t n : count_) values *= n;
  return values;
}

Result<std::uint64_t> GatheredChunk::add(const BoxInChunks& box) {
  const std::size_t rank = chunk_.size();
  // The values that both have, as indexes of the larger array; and the chunks of the box that have
  // these values.
  Lengths low(rank), high(rank), first_chunk(rank), end_chunk(rank);
  std::uint64_t values = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    low[i] = std::max(first_[i], box.first[i]);
    high[i] = std::min(first_[i] + count_[i], box.first[i] + box.count[i]);
    if (low[i] >= high[i]) return std::uint64_t{0};
    values *= high[i] - low[i];
    first_chunk[i] = (low[i] - box.first[i]) / box.chunk[i];
    end_chunk[i] = (high[i] - box.first[i] - 1) / box.chunk[i] + 1;
  }
  Lengths at = first_chunk, from(rank), to(rank), count(rank);
  do {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      number = number * chunks_along(box.count[i], box.chunk[i]) + at[i];
      const std::uint64_t begin = box.first[i] + at[i] * box.chunk[i];
      const std::uint64_t from_index = std::max(begin, low[i]);
      const std::uint64_t end = std::min(begin + box.chunk[i], high[i]);
      from[i] = from_index - begin;
      to[i] = from_index - first_[i];
      count[i] = end - from_index;
    }
    NMB_ASSIGN(const ChunkCache::Chunk chunk, chunk_of(box, number));
    BoxCopy{*chunk, box.chunk, from, bytes_, chunk_, to, count, box.fill}.run();
  } while (next_index(&at, first_chunk, end_chunk, rank));
  return values;
}

}  // namespace nmb
