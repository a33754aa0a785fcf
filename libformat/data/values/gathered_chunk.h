// GatheredChunk: assembles one chunk of an array from chunks of another shape, from chunks of
// several arrays, or from one array without chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "values/chunk_cache.h"
#include "values/chunk_grid.h"
#include "values/chunk_table.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// An array that is stored in chunks. The array, or a part of it, fills a box of a larger array; the
// box may be the whole larger array.
struct BoxInChunks {
  ChunkGrid::Lengths first{};  // index of the first value of the box in the larger array
  ChunkGrid grid{};            // the chunks of the stored array
  // The part of the stored array that fills the box. Not set: the whole array.
  struct Part {
    ChunkGrid::Lengths first, count;
  };
  std::optional<Part> part{};
  // Value of chunks that were never written, in the form of the larger array.
  std::vector<std::byte> fill{};
  std::shared_ptr<const ChunkTable> table{};
  // Ascending numbers of the chunks for which `table` has a row; not set if it has rows for all
  // chunks.
  std::optional<std::vector<std::uint64_t>> numbers{};
  // Converts the values of a decoded chunk to the type and byte order of the larger array; not set
  // if both arrays have the same.
  std::function<std::vector<std::byte>(std::vector<std::byte>)> convert{};
  // Cache of the stored chunks that several gathered chunks need; nullptr if there are no such
  // chunks.
  std::shared_ptr<ChunkCache> cache{};
  std::uint64_t array = 0;  // number of this box in the cache

  std::uint64_t count_at(std::size_t i) const { return part ? part->count[i] : grid.lengths()[i]; }
  // Returns the index in the stored array of the value with index `index` in the larger array.
  std::uint64_t stored_index(std::size_t i, std::uint64_t index) const {
    return index - first[i] + (part ? part->first[i] : 0);
  }
};

class GatheredChunk {
 public:
  // number: number of the chunk in the grid. fill: value of elements that add() does not copy; HDF5
  // shows it in the new elements when the array grows. `grid` and `fill` must outlive the object.
  GatheredChunk(const ChunkGrid& grid, std::uint64_t number, std::span<const std::byte> fill);

  // Copies the values that are in both the chunk and the box. Returns their number. Errors: those
  // of ChunkTable::load().
  Result<std::uint64_t> add(const BoxInChunks& box);
  // Copies all values of the chunk from the array. Errors: those of `array`.
  Status add(const ByteSource& array);
  // Returns the values. The result is empty if no value was ever written.
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void fill_all();

  const ChunkGrid& grid_;
  const std::span<const std::byte> fill_;
  const ChunkGrid::Lengths first_, count_;
  std::vector<std::byte> bytes_;
};

}  // namespace nmb
