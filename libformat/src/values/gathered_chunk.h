// GatheredChunk: puts a chunk of an array together from values that are stored in another way: from
// chunks of another shape, from chunks of several arrays, or from one array without chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "values/chunk_cache.h"
#include "values/chunk_grid.h"
#include "values/chunk_table.h"

namespace nmb {

// An array in chunks that is a box of a larger array, or all of it. Both have the same type and
// byte order.
struct BoxInChunks {
  ChunkGrid::Lengths first{};     // index of the first value of the box in the larger array
  ChunkGrid grid{};               // the chunks of the box
  std::vector<std::byte> fill{};  // value of chunks that were never written
  std::shared_ptr<const ChunkTable> table{};
  // Keeps chunks whose values several gathered chunks have. nullptr if there are no such chunks.
  std::shared_ptr<ChunkCache> cache{};
  std::uint64_t array = 0;  // number of this box in the cache
};

class GatheredChunk {
 public:
  // `number` is the number of the chunk. `fill` is the value of elements that add() does not copy.
  // HDF5 shows this value if the array grows. `grid` and `fill` must outlive the object.
  GatheredChunk(const ChunkGrid& grid, std::uint64_t number, std::span<const std::byte> fill);

  // Copies the values that a box has. Returns how many values of the larger array the box has
  // provided. Errors: those of ChunkTable::load().
  Result<std::uint64_t> add(const BoxInChunks& box);
  // Copies all values from the array. Errors: those of `array`.
  Status add(const ByteSource& array);
  // Returns how many values of the array the chunk has.
  std::uint64_t wanted() const;
  // Returns the values. The result is empty if none of them was ever written.
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void fill_all();

  const ChunkGrid& grid_;
  const std::span<const std::byte> fill_;
  const ChunkGrid::Lengths first_, count_;
  std::vector<std::byte> bytes_;
};

}  // namespace nmb
