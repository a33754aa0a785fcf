// NameIndex: stores the names of a writer's blocks in large chunks of memory, and finds the ID of a
// name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/name_table.h"
#include "model/name_tag.h"

namespace nmb {

// IDs count from 0 in the order in which names are added. Not thread-safe.
class NameIndex {
 public:
  std::uint32_t add(std::string_view name) {
    const auto id = static_cast<std::uint32_t>(places_.size());
    places_.push_back(store(name));
    insert(id);
    return id;
  }
  std::optional<std::uint32_t> find(std::string_view name) const {
    const std::uint32_t id =
        table_.find(tag_of(name), [&](std::uint32_t i) { return live_[i] && at(i) == name; });
    if (id == NameTable::kAbsent) return std::nullopt;
    return id;
  }
  std::string_view at(std::uint32_t id) const { return places_[id]; }
  // After this call, find() no longer returns this ID.
  void forget(std::uint32_t id) { live_[id] = false; }
  void rename(std::uint32_t id, std::string_view name) {
    places_[id] = store(name);
    insert_slot(id);
    live_[id] = true;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(places_.size()); }

 private:
  // Sizes in bytes of the smallest and the largest chunk of memory. A new chunk is as large as all
  // stored names together, but not smaller or larger than these sizes. The first chunk is small
  // because thousands of ranks may each have a NameIndex.
  static constexpr std::size_t kLeastChunk = 1 << 12, kMostChunk = 1 << 18;
  std::string_view store(std::string_view name) {
    if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < name.size()) {
      chunks_.emplace_back();
      const std::size_t length = std::clamp(stored_, kLeastChunk, kMostChunk);
      chunks_.back().reserve(std::max(length, name.size()));
    }
    stored_ += name.size();
    std::string& chunk = chunks_.back();
    const std::size_t begin = chunk.size();
    chunk += name;
    return std::string_view(chunk).substr(begin, name.size());
  }
  void insert(std::uint32_t id) {
    live_.push_back(true);
    insert_slot(id);
  }
  void insert_slot(std::uint32_t id) {
    table_.reserve_one();
    table_.insert(tag_of(at(id)), id);
  }
  std::deque<std::string> chunks_;
  std::size_t stored_ = 0;  // total length of the names in bytes
  std::vector<std::string_view> places_;
  std::vector<bool> live_;
  NameTable table_;
};

}  // namespace nmb
