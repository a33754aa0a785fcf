// ChunkTable: reads single chunks of a variable (spec/extended.md, section 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "model/extension.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Thread-safe if the region is.
class ChunkTable {
 public:
  // region: the variable's region in the extent.
  ChunkTable(std::shared_ptr<const ByteSource> region, const Storage& storage,
             std::uint64_t value_size);

  const std::string& name() const { return region_->name(); }
  const std::vector<Filter>& filters() const { return filters_; }
  // Returns the size of a decoded chunk in bytes.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }

  // Returns the table rows of `count` chunks from number `first` on. Errors: kDamaged (R-XC-2) if
  // the rows are read in order from number 0 on, and the rows and chunks so far have more bytes
  // than the region.
  Result<std::vector<ChunkRow>> rows(std::uint64_t first, std::uint64_t count) const;
  // Errors: kDamaged (R-XC-1) if a stored chunk is not inside the region.
  Status check_place(std::uint64_t number, const ChunkRow& row) const;
  // Returns the stored bytes of a chunk. Errors: kDamaged (R-XC-1) if they are not inside the
  // region.
  Result<std::vector<std::byte>> stored(std::uint64_t number, const ChunkRow& row) const;
  // Reads stored bytes of a chunk, from offset `begin` on. Errors: those of stored().
  Status read_stored(std::uint64_t number, const ChunkRow& row, std::uint64_t begin,
                     std::span<std::byte> out) const;
  // Returns the values of a chunk, or nothing if the chunk was never written. The filters must have
  // passed check_filters(). Errors: kDamaged (R-XC-1), also for each chunk after one on which the
  // HDF5 library crashed or took too much time; kLimit if there is not enough memory.
  Result<std::vector<std::byte>> load(std::uint64_t number, const ChunkRow& row) const;
  Result<std::vector<std::byte>> load(std::uint64_t number) const;
  // Checks a chunk with any filters: decodes it or, if a filter is unknown, checks the checksums
  // that can be checked without that filter. Returns false if neither is possible. Does not read a
  // chunk that is not encoded and has no checksum, because its bytes cannot show damage. Returns
  // false too if the HDF5 library crashed on another chunk: only that chunk is known to be damaged.
  // Errors: those of load().
  Result<bool> check(std::uint64_t number, const ChunkRow& row) const;
  // Returns whether the stored bytes of a chunk are its values, because it is not encoded.
  bool is_plain(const ChunkRow& row) const;

 private:
  // How many rows were read in order from number 0 on, and how many bytes of the region are left
  // for other rows and chunks.
  struct Seen {
    std::mutex mutex;
    std::uint64_t rows = 0, left = 0;
  };

  // The failure of the chunk on which the HDF5 library ended; ok if there was none.
  struct Ended {
    std::mutex mutex;
    Status status;
  };

  Result<std::vector<std::byte>> decode(std::uint64_t number, const ChunkRow& row) const;
  Status ended() const;
  bool lies_in_file(const ChunkRow& row) const;
  Status damaged(std::uint64_t number, const std::string& message) const;
  Status take_lengths(std::uint64_t first, std::span<const ChunkRow> rows) const;

  const std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
  const std::shared_ptr<Ended> ended_ = std::make_shared<Ended>();
  const std::shared_ptr<const ByteSource> region_;
  const std::vector<Filter> filters_;
  const std::uint64_t value_size_;
  const bool decodes_alone_;
  std::uint64_t chunk_bytes_;
};

}  // namespace nmb
