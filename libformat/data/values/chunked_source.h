// ChunkedSource: presents the chunks of a variable as one array (spec/extended.md, section 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/extension.h"
#include "values/chunk_cache.h"
#include "values/chunk_table.h"
#include "wire/bytes.h"

namespace nmb {

// Keeps decoded chunks in a cache. Thread-safe.
class ChunkedSource final : public ByteSource {
 public:
  // region: the variable's region in the extent. lengths: lengths of the variable's dimensions.
  // fill: the fill value. size: size of the array in bytes. The filters must have passed
  // check_filters().
  ChunkedSource(std::shared_ptr<const ByteSource> region, const Storage& storage,
                std::vector<std::uint64_t> lengths, std::uint64_t value_size,
                std::vector<std::byte> fill, std::uint64_t size, std::shared_ptr<ChunkCache> cache);
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return table_.name(); }
  // Reads the parts of each chunk together. So a long read decodes hardly any chunk twice, even if
  // the cache is small.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  // Values that are contiguous both in the array and in a chunk.
  struct ChunkSlice {
    std::uint64_t chunk;  // number of the chunk
    std::uint64_t place;  // offset in the chunk
    std::span<std::byte> out;
  };
  ChunkSlice first_run(std::uint64_t offset, std::span<std::byte> out) const;
  // Reads runs of one chunk.
  Status read_runs(std::span<const ChunkSlice> runs) const;
  Result<ChunkRow> row_of(std::uint64_t number) const;

  const ChunkTable table_;
  const std::vector<std::uint64_t> chunk_, lengths_;
  const std::uint64_t value_size_;
  // A chunk covers all dimensions after run_dimension_ completely, so its values for successive
  // indexes of run_dimension_ are contiguous in the array too. It has row_ contiguous values for
  // each of these indexes.
  std::size_t run_dimension_ = 0;
  std::uint64_t row_ = 1;
  const std::vector<std::byte> fill_;  // one value
  const std::uint64_t size_;
  const std::shared_ptr<ChunkCache> cache_;
  const std::uint64_t array_;  // identifies this array in the cache
  std::uint64_t chunks_ = 1;
  // The row of the chunk table that was read last, and the rows after it.
  mutable std::mutex rows_mutex_;
  mutable std::uint64_t first_row_ = 0;
  mutable std::vector<ChunkRow> rows_;
};

}  // namespace nmb
