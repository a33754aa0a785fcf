// ChunkCache: keeps the chunks that were decoded last, of one variable or of several variables that
// are read alternately.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "wire/failure.h"
#include "wire/memory_budget.h"

namespace nmb {

// Holds at most memory_budget(limit) bytes, or a single longer chunk. Thread-safe.
class ChunkCache {
 public:
  using Chunk = std::shared_ptr<const std::vector<std::byte>>;

  explicit ChunkCache(std::uint64_t limit) : limit_(memory_budget(limit)) {}

  // Returns a new number for an array, which distinguishes its chunks from the chunks of other
  // arrays.
  std::uint64_t add_array() {
    const std::scoped_lock lock(mutex_);
    return arrays_++;
  }
  // Returns a chunk. If it is not in the cache, calls load(), which returns the values. Meanwhile,
  // other threads that need the same chunk wait. Errors: those of load().
  template <class Load>
  Result<Chunk> get(std::uint64_t array, std::uint64_t number, const Load& load) {
    Chunk chunk = find(array, number);
    if (chunk) return chunk;
    const std::scoped_lock lock(loading_[(array * 31 + number) % loading_.size()]);
    chunk = find(array, number);
    if (chunk) return chunk;
    NMB_ASSIGN(std::vector<std::byte> values, load());
    chunk = std::make_shared<const std::vector<std::byte>>(std::move(values));
    put(array, number, chunk);
    return chunk;
  }

 private:
  // Returns the chunk, or nullptr if it is not in the cache.
  Chunk find(std::uint64_t array, std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find({array, number});
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.end(), entries_, found->second);
    return found->second->chunk;
  }
  void put(std::uint64_t array, std::uint64_t number, Chunk chunk) {
    const std::scoped_lock lock(mutex_);
    bytes_ += bytes_of(chunk);
    while (!entries_.empty() && bytes_ > limit_) {
      bytes_ -= bytes_of(entries_.front().chunk);
      places_.erase(entries_.front().key);
      entries_.pop_front();
    }
    const Key key{array, number};
    entries_.push_back({key, std::move(chunk)});
    places_[key] = std::prev(entries_.end());
  }

  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct CachedChunk {
    Key key;
    Chunk chunk;
  };
  // Returns the memory that a chunk takes in the cache. The cache entry is included, so that empty
  // chunks count too.
  static std::uint64_t bytes_of(const Chunk& chunk) { return chunk->size() + 256; }

  const std::uint64_t limit_;
  std::array<std::mutex, 32> loading_;
  std::mutex mutex_;
  std::uint64_t arrays_ = 0, bytes_ = 0;
  std::list<CachedChunk> entries_;  // least recently used first
  std::map<Key, std::list<CachedChunk>::iterator> places_;
};

}  // namespace nmb
