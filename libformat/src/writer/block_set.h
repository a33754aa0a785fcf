// BlockSet: the blocks that a writer has defined or looked at, by ID and by name.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/names_like.h"
#include "wire/huge_pages.h"
#include "writer/block_state.h"
#include "writer/name_index.h"

namespace nmb {

// Blocks keep their place in memory. IDs count from 0. Not thread-safe.
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
  // The name no longer finds the block.
  void forget_name(BlockId id) { names_.forget(id); }
  void rename(BlockId id, std::string_view name) {
    names_.forget(id);
    names_.rename(id, name);
  }

  // The next end_define() encodes and places the block.
  void mark_pending(BlockId id) {
    if (!(*this)[id].pending) pending.push_back(id);
    (*this)[id].pending = true;
  }
  // The next commit has something to write of it.
  void mark_dirty(BlockId id) {
    if (!(*this)[id].dirty) dirty.push_back(id);
    (*this)[id].dirty = true;
  }

  // After a commit: nothing is to be written.
  void settle() {
    for (const BlockId id : dirty) {
      (*this)[id].dirty = false;
      if ((*this)[id].is_removed()) (*this)[id].committed.reset();
    }
    dirty.clear();
    removed_names.clear();
    by_name.clear();
  }

  std::vector<BlockId> pending;                      // defined or edited since the last end_define
  std::vector<BlockId> dirty;                        // to be written by the next commit
  std::set<std::string, std::less<>> removed_names;  // of committed blocks, since the last commit
  NamesLike names_like;                              // of the newest block
  // New blocks in order of names; made when a global ID is asked for.
  std::vector<BlockId> by_name;

 private:
  static constexpr std::size_t kChunk = 32;
  HugePageResource huge_pages_;

 public:
  std::pmr::monotonic_buffer_resource arena{64 << 10, &huge_pages_};  // of new small blocks

 private:
  NameIndex names_;
  std::vector<std::unique_ptr<BlockState[]>> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace nmb
