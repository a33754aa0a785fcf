// ChunkedSource: the array that consists of the chunks of a variable (spec/format.md, section
// 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/extension.h"
#include "values/chunk_cache.h"
#include "values/chunk_table.h"

namespace nmb {

// Keeps chunks in a cache. Thread-safe.
class ChunkedSource final : public ByteSource {
 public:
  // region: that of the variable. lengths: of its dimensions. fill: one value. size: bytes of the
  // array. The filters must have passed check_filters().
  ChunkedSource(std::shared_ptr<const ByteSource> region, const Storage& storage,
                std::vector<std::uint64_t> lengths, std::uint64_t value_size,
                std::vector<std::byte> fill, std::uint64_t size, std::shared_ptr<ChunkCache> cache);
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return table_.name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  Result<ChunkRow> row_of(std::uint64_t number) const;
  Result<ChunkCache::Chunk> chunk_at(std::uint64_t number, const ChunkRow& row) const;

  const ChunkTable table_;
  const std::vector<std::uint64_t> chunk_, lengths_;
  const std::uint64_t value_size_;
  // Along this dimension and the faster ones, which one chunk covers completely, the values of a
  // chunk follow one another as in the array: `row_` values for each index.
  std::size_t run_dimension_ = 0;
  std::uint64_t row_ = 1;
  const std::vector<std::byte> fill_;  // one value
  const std::uint64_t size_;
  const std::shared_ptr<ChunkCache> cache_;
  const std::uint64_t array_;  // number in the cache
  std::uint64_t chunks_ = 1;
  // The rows of the table that were requested last, and the rows after them.
  mutable std::mutex rows_mutex_;
  mutable std::uint64_t first_row_ = 0;
  mutable std::vector<ChunkRow> rows_;
};

}  // namespace nmb
