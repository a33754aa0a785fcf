// PieceCache keeps decoded pieces that later reads may need again.
#pragma once

#include "extent/data_map.h"
#include "wire/bytes_cache.h"

namespace nmb {

// A cache for all blocks of a file. Thread-safe.
class PieceCache {
 public:
  using Bytes = BytesCache<5>::Bytes;

  // Works like BytesCache::get(). The key has all these fields, because two pieces of a damaged
  // file may have the same position.
  template <class Load>
  Result<Bytes> get(const Piece& piece, const Load& load) {
    return pieces_.get({piece.position, piece.sum, static_cast<std::uint64_t>(piece.codec),
                        piece.length, piece.file},
                       load);
  }

 private:
  BytesCache<5> pieces_{16 << 20};
};

}  // namespace nmb
