// ChunkTable: the chunks of a variable, one by one (spec/format.md, section 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb {

// Thread-safe as the region is.
class ChunkTable {
 public:
  // region: the variable's.
  ChunkTable(std::shared_ptr<const ByteSource> region, const Storage& storage,
             std::uint64_t value_size);

  const std::string& name() const { return region_->name(); }
  // Of a chunk, decoded.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }

  // Of the chunks `first` and so many from there.
  Result<std::vector<ChunkRow>> rows(std::uint64_t first, std::uint64_t count) const;
  // The chunk as it is stored. kDamaged (R-XC-1): it does not lie in the region.
  Result<std::vector<std::byte>> stored(std::uint64_t number, const ChunkRow& row) const;
  // The chunk's values, of filters that check_filters() takes; empty: never written. kDamaged
  // (R-XC-1); kLimit: it takes more memory than there is.
  Result<std::vector<std::byte>> load(std::uint64_t number, const ChunkRow& row) const;
  Result<std::vector<std::byte>> load(std::uint64_t number) const;
  // Whether what is stored of a chunk is its values.
  bool is_plain(const ChunkRow& row) const;
  // Of such a chunk, from `begin` on. kDamaged (R-XC-1).
  Status read_plain(std::uint64_t number, const ChunkRow& row, std::uint64_t begin,
                    std::span<std::byte> out) const;

 private:
  Status check_place(std::uint64_t number, const ChunkRow& row) const;
  Status damaged(std::uint64_t number, const std::string& message) const;

  const std::shared_ptr<const ByteSource> region_;
  const std::vector<Filter> filters_;
  const std::uint64_t value_size_;
  std::uint64_t chunk_bytes_;
};

}  // namespace nmb
