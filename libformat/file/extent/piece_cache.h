// PieceCache keeps decoded pieces that later reads may need again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "extent/data_map.h"

namespace nmb {

// A cache for all blocks of a file. Keeps the most recently used pieces: at most kCapacity bytes in
// all, or one larger piece. Thread-safe.
class PieceCache {
 public:
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;

  // Returns the bytes of a piece, or nullptr if the piece is not cached.
  Bytes find(const Piece& piece) {
    std::lock_guard lock(mutex_);
    for (auto held = pieces_.begin(); held != pieces_.end(); ++held) {
      const Piece& is = held->first;
      // All fields are compared, because two pieces of a damaged file may have the same position.
      if (is.position != piece.position || is.sum != piece.sum || is.codec != piece.codec ||
          is.length != piece.length || is.file != piece.file)
        continue;
      pieces_.splice(pieces_.begin(), pieces_, held);
      return pieces_.front().second;
    }
    return nullptr;
  }

  void add(const Piece& piece, Bytes bytes) {
    std::lock_guard lock(mutex_);
    held_ += bytes->size();
    pieces_.emplace_front(piece, std::move(bytes));
    while (pieces_.size() > 1 && (held_ > kCapacity || pieces_.size() > kMostPieces)) {
      held_ -= pieces_.back().second->size();
      pieces_.pop_back();
    }
  }

 private:
  static constexpr std::size_t kCapacity = 16 << 20;
  // The cache has at most this many pieces, because find() searches all of them.
  static constexpr std::size_t kMostPieces = 64;

  std::mutex mutex_;
  std::list<std::pair<Piece, Bytes>> pieces_;  // most recently used first
  std::size_t held_ = 0;
};

}  // namespace nmb
