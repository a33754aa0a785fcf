// ChunkCache: the most recently decoded chunks of one variable, or of several that are read
// alternately.
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

#include "wire/memory_room.h"

namespace nmb {

// Holds at most memory_room(limit) bytes, or one chunk if that is longer. Thread-safe.
class ChunkCache {
 public:
  using Chunk = std::shared_ptr<const std::vector<std::byte>>;

  explicit ChunkCache(std::uint64_t limit) : limit_(memory_room(limit)) {}

  // Returns a number for an array, which tells its chunks from those of other arrays.
  std::uint64_t add_array() {
    const std::scoped_lock lock(mutex_);
    return arrays_++;
  }
  // Hold this mutex while you load a chunk that is missing, so that other threads that want the
  // chunk wait.
  std::mutex& loading(std::uint64_t array, std::uint64_t number) {
    return loading_[(array * 31 + number) % loading_.size()];
  }
  // nullptr: the chunk is not in the cache.
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

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Entry {
    Key key;
    Chunk chunk;
  };
  // Includes the memory that an entry itself takes; this limits the number of empty chunks, too.
  static std::uint64_t bytes_of(const Chunk& chunk) { return chunk->size() + 256; }

  const std::uint64_t limit_;
  std::array<std::mutex, 32> loading_;
  std::mutex mutex_;
  std::uint64_t arrays_ = 0, bytes_ = 0;
  std::list<Entry> entries_;  // most recently used last
  std::map<Key, std::list<Entry>::iterator> places_;
};

}  // namespace nmb
