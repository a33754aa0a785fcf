// PieceCache: decoded pieces that reads of a part of them may want again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "format/extent/data_map.h"

namespace nmb {

// Of one file, whatever blocks they belong to: those used last, kCapacity bytes together or one.
// Thread-safe.
class PieceCache {
 public:
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;

  // nullptr: not there.
  Bytes find(const Piece& piece) {
    std::lock_guard lock(mutex_);
    for (auto held = pieces_.begin(); held != pieces_.end(); ++held) {
      const Piece& is = held->first;
      // Of a damaged file two may lie at one place.
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
  static constexpr std::size_t kMostPieces = 64;  // that find() looks through

  std::mutex mutex_;
  std::list<std::pair<Piece, Bytes>> pieces_;  // the last used in front
  std::size_t held_ = 0;
};

}  // namespace nmb
