// ChunkedSource: the array that the chunks of a variable make (spec/format.md, section 15.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nmb/byte_source.h"
#include "nmb/extension.h"
#include "values/chunk_table.h"

namespace nmb {

// Keeps the chunks that were read last, of at most kCache bytes together or one. Thread-safe.
class ChunkedSource final : public ByteSource {
 public:
  // region: the variable's. lengths: of its dimensions. fill: one value. size: bytes of the array.
  // Filters are those that check_filters() takes.
  ChunkedSource(std::shared_ptr<const ByteSource> region, const Storage& storage,
                std::vector<std::uint64_t> lengths, std::uint64_t value_size,
                std::vector<std::byte> fill, std::uint64_t size);
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return table_.name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  static constexpr std::uint64_t kCache = 64 << 20;

  Result<const std::vector<std::byte>*> chunk_at(std::uint64_t number) const;

  const ChunkTable table_;
  const std::vector<std::uint64_t> chunk_, lengths_;
  const std::uint64_t value_size_;
  const std::vector<std::byte> fill_;  // one value
  const std::uint64_t size_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::vector<std::byte>> cached_;
  mutable std::list<std::uint64_t> order_;  // of loading
};

}  // namespace nmb
