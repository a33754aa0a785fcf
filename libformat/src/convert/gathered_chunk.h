// GatheredChunk: puts a chunk of an array together from decoded chunks of other arrays. Each other
// array is a box of the array. This is faster than reading the values one run after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nmb/status.h"
#include "values/chunk_cache.h"
#include "values/chunk_table.h"

namespace nmb {

// An array in chunks that is a box of a larger array. Both have the same type and byte order.
struct BoxInChunks {
  std::vector<std::uint64_t> first, count;  // the box, by dimension, slowest first
  std::vector<std::uint64_t> chunk;         // lengths of the chunks of this array
  std::vector<std::byte> fill;              // value of chunks that were never written
  std::shared_ptr<const ChunkTable> table;
  std::shared_ptr<ChunkCache> cache;
  std::uint64_t array = 0;  // number of this array in the cache
};

class GatheredChunk {
 public:
  // The chunk begins at index `first` of the larger array and has the lengths `chunk`. `count`: how
  // many indexes of the larger array the chunk has along each dimension. fill: value of all other
  // elements of the chunk.
  GatheredChunk(std::vector<std::uint64_t> first, std::vector<std::uint64_t> count,
                const std::vector<std::uint64_t>& chunk, std::span<const std::byte> fill);

  // Copies the values that a box has. Returns how many values of the larger array the box has
  // provided. Errors: those of ChunkTable::load().
  Result<std::uint64_t> add(const BoxInChunks& box);
  // Returns how many values of the larger array the chunk has.
  std::uint64_t wanted() const;
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  const std::vector<std::uint64_t> first_, count_;
  const std::vector<std::uint64_t>& chunk_;
  const std::uint64_t value_size_;
  std::vector<std::byte> bytes_;
};

}  // namespace nmb
