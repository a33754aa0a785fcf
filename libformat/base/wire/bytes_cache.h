// BytesCache: keeps the bytes that were loaded last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "wire/failure.h"
#include "wire/memory_budget.h"

namespace nmb {

// A key has `fields` numbers. Holds at most memory_budget(limit) bytes, or a single longer entry.
// Thread-safe.
template <std::size_t fields>
class BytesCache {
 public:
  using Key = std::array<std::uint64_t, fields>;
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;

  explicit BytesCache(std::uint64_t limit) : limit_(memory_budget(limit)) {}

  // Returns the bytes of a key. If they are not in the cache, calls load(), which returns them.
  // Meanwhile, other threads that need the same bytes wait. Errors: those of load().
  template <class Load>
  Result<Bytes> get(const Key& key, const Load& load) {
    Bytes bytes = find(key);
    if (bytes) return bytes;
    const std::scoped_lock lock(loading_[hash(key) % loading_.size()]);
    bytes = find(key);
    if (bytes) return bytes;
    NMB_ASSIGN(std::vector<std::byte> loaded, load());
    bytes = std::make_shared<const std::vector<std::byte>>(std::move(loaded));
    put(key, bytes);
    return bytes;
  }

 private:
  struct CachedBytes {
    Key key;
    Bytes bytes;
  };

  static std::uint64_t hash(const Key& key) {
    std::uint64_t hash = 0;
    for (const std::uint64_t field : key) hash = hash * 31 + field;
    return hash;
  }
  // Returns nullptr if the bytes are not in the cache.
  Bytes find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.end(), entries_, found->second);
    return found->second->bytes;
  }
  void put(const Key& key, Bytes bytes) {
    const std::scoped_lock lock(mutex_);
    held_ += memory_of(bytes);
    while (!entries_.empty() && held_ > limit_) {
      held_ -= memory_of(entries_.front().bytes);
      places_.erase(entries_.front().key);
      entries_.pop_front();
    }
    entries_.push_back({key, std::move(bytes)});
    places_[key] = std::prev(entries_.end());
  }
  // The entry itself is included, so that empty bytes count too.
  static std::uint64_t memory_of(const Bytes& bytes) { return bytes->size() + 256; }

  const std::uint64_t limit_;
  std::array<std::mutex, 32> loading_;
  std::mutex mutex_;
  std::uint64_t held_ = 0;
  std::list<CachedBytes> entries_;  // least recently used first
  std::map<Key, typename std::list<CachedBytes>::iterator> places_;
};

}  // namespace nmb
