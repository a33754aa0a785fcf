// BlockSet: the blocks that a writer has defined or opened, by ID and by name.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/names_like.h"
#include "state/block_state.h"
#include "state/name_index.h"
#include "wire/huge_pages.h"

namespace nmb {

// Blocks never move in memory. IDs count from 0. Not thread-safe.
class BlockSet {
 public:
  BlockId add(std::string_view name) {
    if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<BlockState[]>(kChunk));
    ++size_;
    return names_.add(name);
  }
  BlockState& operator[](BlockId id) { return chunks_[id / kChunk][id % kChunk]; }
  const BlockState& operator[](BlockId id) const { return chunks_[id / kChunk][id % kChunk]; }
  std::uint32_t size() const { return size_; }
  bool is_newest(BlockId id) const { return id + 1 == size_; }

  std::string_view name(BlockId id) const { return names_.at(id); }
  std::optional<BlockId> find(std::string_view name) const { return names_.find(name); }
  // After this call, find() no longer finds the block.
  void forget_name(BlockId id) { names_.forget(id); }
  void rename(BlockId id, std::string_view name) {
    names_.forget(id);
    names_.rename(id, name);
  }

  // Marks a block that the next end_define() encodes and places.
  void mark_pending(BlockId id) {
    if (!(*this)[id].pending) pending.push_back(id);
    (*this)[id].pending = true;
  }
  // Marks a block that the next commit changes in the file, and whose values may wait for places.
  void mark_dirty(BlockId id) {
    BlockState& block = (*this)[id];
    if (!std::exchange(block.dirty, true)) dirty.push_back(id);
    if (!std::exchange(block.touched, true)) touched.push_back(id);
  }
  // Marks that no values wait for places.
  void mark_placed() {
    for (const BlockId id : touched) (*this)[id].touched = false;
    touched.clear();
  }

  // Marks all blocks as written. Must be called after a commit.
  void settle() {
    for (const BlockId id : dirty) {
      (*this)[id].dirty = false;
      if ((*this)[id].is_removed()) (*this)[id].committed.reset();
    }
    dirty.clear();
    removed_names.clear();
    by_name.clear();
  }

  // Blocks that were defined or edited since the last end_define().
  std::vector<BlockId> pending;
  std::vector<BlockId> dirty;  // blocks that the next commit changes in the file
  // Blocks that were marked since values were last placed. Only their values may wait for places.
  std::vector<BlockId> touched;
  // Names of committed blocks that were removed since the last commit.
  std::set<std::string, std::less<>> removed_names;
  NamesLike names_like;  // names used by the newest block
  // New blocks in the order of their names. This list is made when a global ID is requested.
  std::vector<BlockId> by_name;

 private:
  static constexpr std::size_t kChunk = 32;
  HugePageResource huge_pages_;

 public:
  std::pmr::monotonic_buffer_resource arena{
      64 << 10, &huge_pages_};  // memory for the metadata of new small blocks

 private:
  NameIndex names_;
  std::vector<std::unique_ptr<BlockState[]>> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace nmb
