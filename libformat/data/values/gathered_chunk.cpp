#include "values/gathered_chunk.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "wire/joined_text.h"

namespace nmb {

namespace {

using Lengths = ChunkGrid::Lengths;

// The position of a box in an array.
struct BoxPlace {
  const Lengths& array;  // lengths of the array
  const Lengths& first;  // index of the first value of the box

  // Returns the position in the array of the value with index `at` in the box. Missing indexes at
  // the end of `at` are 0.
  std::uint64_t position(const Lengths& at) const {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < array.size(); ++i)
      out = out * array[i] + first[i] + (i < at.size() ? at[i] : 0);
    return out;
  }
};

// Calls visit(from, to, count) for each run of values in a box that is contiguous in both arrays.
// `from` and `to` are the positions of its beginning in the two arrays.
template <class Visit>
Status for_each_shared_run(const BoxPlace& from, const BoxPlace& to, const Lengths& count,
                           const Visit& visit) {
  if (count.empty()) return visit(std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1});
  // As long as the box has the full length of both arrays along the faster dimensions, the run
  // extends over a further dimension.
  std::size_t last = count.size() - 1;
  std::uint64_t run = count[last];
  while (last > 0 && count[last] == from.array[last] && count[last] == to.array[last])
    run *= count[--last];
  const Lengths outer(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(last));
  return for_each_index(Lengths(last, 0), outer, [&](const Lengths& at) {
    return visit(from.position(at), to.position(at), run);
  });
}

// Sets all values to `fill`, one value.
void fill_values(std::span<const std::byte> fill, std::span<std::byte> values) {
  if (values.empty()) return;
  std::ranges::copy(fill, values.begin());
  // Each step doubles the filled part.
  for (std::size_t done = fill.size(); done < values.size(); done *= 2)
    std::memcpy(values.data() + done, values.data(), std::min(done, values.size() - done));
}

// Returns the number of the row that the chunk table has for a chunk of the box.
Result<std::uint64_t> row_of(const BoxInChunks& box, std::uint64_t number) {
  if (!box.numbers) return number;
  const auto at = std::ranges::lower_bound(*box.numbers, number);
  if (at == box.numbers->end() || *at != number)
    return Status(Code::kUsage, joined_text("chunk ", number, " is not in the chunk table"));
  return static_cast<std::uint64_t>(at - box.numbers->begin());
}

Result<ChunkCache::Chunk> chunk_of(const BoxInChunks& box, std::uint64_t number) {
  const auto load = [&]() -> Result<std::vector<std::byte>> {
    NMB_ASSIGN(const std::uint64_t row, row_of(box, number));
    NMB_ASSIGN(std::vector<std::byte> values, box.table->load(row));
    if (values.empty() || !box.convert) return values;
    return box.convert(std::move(values));
  };
  if (box.cache) return box.cache->get(box.array, number, load);
  NMB_ASSIGN(std::vector<std::byte> values, load());
  return ChunkCache::Chunk(std::make_shared<const std::vector<std::byte>>(std::move(values)));
}

}  // namespace

GatheredChunk::GatheredChunk(const ChunkGrid& grid, std::uint64_t number,
                             std::span<const std::byte> fill)
    : grid_(grid), fill_(fill), first_(grid.first_of(number)), count_(grid.count_of(first_)) {}

void GatheredChunk::fill_all() {
  bytes_.resize(grid_.chunk_bytes());
  if (std::ranges::any_of(fill_, [](std::byte b) { return b != std::byte{0}; }))
    fill_values(fill_, bytes_);
}

Result<std::uint64_t> GatheredChunk::add(const BoxInChunks& box) {
  const Lengths& part = box.grid.chunk();
  const std::size_t rank = part.size();
  const std::uint64_t size = grid_.value_size();
  // `low` and `high` limit the values that are in both the chunk and the box, as indexes of the
  // larger array. `first_part` and `end_part` limit the chunks of the box that contain these
  // values.
  Lengths low(rank), high(rank), first_part(rank), end_part(rank);
  std::uint64_t values = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    low[i] = std::max(first_[i], box.first[i]);
    high[i] = std::min(first_[i] + count_[i], box.first[i] + box.count_at(i));
    if (low[i] >= high[i]) return std::uint64_t{0};
    values *= high[i] - low[i];
    first_part[i] = box.stored_index(i, low[i]) / part[i];
    end_part[i] = chunks_along(box.stored_index(i, high[i]), part[i]);
  }
  Lengths from(rank), to(rank), count(rank);
  NMB_TRY(for_each_index(first_part, end_part, [&](const Lengths& place) -> Status {
    for (std::size_t i = 0; i < rank; ++i) {
      // `begin`, `first` and `end` are indexes of the stored array.
      const std::uint64_t begin = place[i] * part[i];
      const std::uint64_t first = std::max(begin, box.stored_index(i, low[i]));
      const std::uint64_t end = std::min(begin + part[i], box.stored_index(i, high[i]));
      from[i] = first - begin;
      to[i] = low[i] - first_[i] + (first - box.stored_index(i, low[i]));
      count[i] = end - first;
    }
    NMB_ASSIGN(const ChunkCache::Chunk chunk, chunk_of(box, box.grid.number_at(place)));
    if (chunk->empty() && std::ranges::equal(box.fill, fill_)) return {};
    if (bytes_.empty()) fill_all();
    return for_each_shared_run(
        {part, from}, {grid_.chunk(), to}, count,
        [&](std::uint64_t source, std::uint64_t target, std::uint64_t run) {
          const std::span<std::byte> out = std::span(bytes_).subspan(target * size, run * size);
          if (chunk->empty())
            fill_values(box.fill, out);
          else
            std::memcpy(out.data(), chunk->data() + source * size, out.size());
          return Status();
        });
  }));
  return values;
}

Status GatheredChunk::add(const ByteSource& array) {
  if (count_ == grid_.chunk())
    bytes_.resize(grid_.chunk_bytes());
  else
    fill_all();
  const std::uint64_t size = grid_.value_size();
  const Lengths zero(count_.size(), 0);
  return for_each_shared_run(
      {grid_.lengths(), first_}, {grid_.chunk(), zero}, count_,
      [&](std::uint64_t source, std::uint64_t target, std::uint64_t run) {
        return array.read_at(source * size, std::span(bytes_).subspan(target * size, run * size));
      });
}

}  // namespace nmb
