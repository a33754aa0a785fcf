// ChunkCache: keeps the chunks that were decoded last, of one variable or of several variables that
// are read alternately.
#pragma once

#include <atomic>
#include <cstdint>

#include "wire/bytes_cache.h"

namespace nmb {

// Thread-safe.
class ChunkCache {
 public:
  using Chunk = BytesCache<2>::Bytes;

  explicit ChunkCache(std::uint64_t limit) : chunks_(limit) {}

  // Returns a new number for an array, which distinguishes its chunks from the chunks of other
  // arrays.
  std::uint64_t add_array() { return arrays_++; }
  // Works like BytesCache::get().
  template <class Load>
  Result<Chunk> get(std::uint64_t array, std::uint64_t number, const Load& load) {
    return chunks_.get({array, number}, load);
  }

 private:
  std::atomic<std::uint64_t> arrays_{0};
  BytesCache<2> chunks_;
};

}  // namespace nmb
