// Writes the values of a variable in chunks with HDF5 filters (spec/format.md, section 15.2).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/extension.h"
#include "nmb/status.h"
#include "wire/spliced_source.h"
#include "wire/spool_file.h"

namespace nmb {

// Returns the number of chunks that cover `length` elements.
constexpr std::uint64_t chunks_along(std::uint64_t length, std::uint64_t chunk) {
  return length / chunk + (length % chunk != 0);
}

// Chooses chunks of whole rows with about 1 MiB each, for an array with the given lengths. A chunk
// has length 0 along a dimension of length 0.
std::vector<std::uint64_t> usual_chunk(std::span<const std::uint64_t> lengths,
                                       std::uint64_t value_size);

// Copies chunks out of an array and applies no filters.
class ChunkCutter {
 public:
  // lengths: the lengths of the array's dimensions. fill: one fill value. The array, `lengths` and
  // `chunk` must outlive the object.
  ChunkCutter(const ByteSource& array, const std::vector<std::uint64_t>& lengths,
              const std::vector<std::uint64_t>& chunk, std::vector<std::byte> fill);

  // Copies chunk `number` to *out. Elements outside the array get the fill value, which HDF5 shows
  // there when the array grows. Thread-safe if the array is.
  Status cut(std::uint64_t number, std::vector<std::byte>* out) const;

 private:
  const ByteSource& array_;
  const std::vector<std::uint64_t>& lengths_;
  const std::vector<std::uint64_t>& chunk_;
  const std::vector<std::byte> fill_;
  const std::uint64_t value_size_;
  std::size_t first_whole_;
  std::uint64_t chunk_bytes_;
};

// A chunk whose stored bytes are already in another source.
struct StoredChunk {
  std::uint32_t source = 0;  // index of the source; see ChunkRuns
  std::uint32_t filter_mask = 0;
  std::uint64_t offset = 0;         // offset in that source
  std::uint64_t stored_length = 0;  // 0: never written
};

// The chunks of one variable.
struct ChunksToCode {
  std::uint64_t count = 0;
  std::uint64_t chunk_bytes = 0;  // bytes of a decoded chunk
  std::uint64_t value_size = 0;
  const std::vector<Filter>* filters = nullptr;
  // Returns the values of a chunk. The result is empty if the chunk was never written. Several
  // threads call this function.
  std::function<Result<std::vector<std::byte>>(std::uint64_t number)> load;
  // Returns a chunk whose stored bytes are copied, or nullopt if the chunk is encoded from load().
  // If this function is not set, all chunks are encoded.
  std::function<std::optional<StoredChunk>(std::uint64_t number)> stored{};
};

// The parts of an extent, which become the runs of a SplicedSource. Parts are added in ascending
// order.
class ChunkRuns {
 public:
  // spool: index of the spool file among the sources of the extent.
  explicit ChunkRuns(std::uint32_t spool) : spool_(spool) {}

  // Adds a run at the end. Joins the run with the run before it if both are contiguous.
  void add(const SplicedSource::Run& run);
  std::uint64_t end() const { return runs_.empty() ? 0 : runs_.back().end(); }
  std::uint32_t spool() const { return spool_; }
  std::vector<SplicedSource::Run> take() { return std::move(runs_); }

 private:
  const std::uint32_t spool_;
  std::vector<SplicedSource::Run> runs_;
};

struct CodingRules {
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
};

// The maximum number of bytes in all chunks that are encoded at the same time.
inline constexpr std::uint64_t kCodedAtOnce = 64 << 20;

// Encodes chunks on all threads and appends the chunk table and the encoded chunks to `spool`. The
// table and the chunks become a region that begins at offset `begin` of the extent. Returns the
// length of the region. The bytes do not depend on the number of threads. At any time, memory holds
// chunks of 64 MiB in all, or one chunk for each thread if that is more. Errors: those of `load`;
// kNoSpace, kIo.
Result<std::uint64_t> code_chunks(const ChunksToCode& chunks, const CodingRules& rules,
                                  SpoolFile& spool, std::uint64_t begin, ChunkRuns* runs);

}  // namespace nmb
