// code_chunks: encodes the chunks of an array on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/extension.h"
#include "values/chunk_grid.h"
#include "wire/failure.h"

namespace nmb {

// The chunks of one variable. `grid` and `filters` must outlive the object.
struct ChunksToCode {
  const ChunkGrid& grid;
  const std::vector<Filter>& filters;
  // Returns the values of a chunk, or nothing if the chunk is not encoded, for example because it
  // was never written. Several threads call this function.
  std::function<Result<std::vector<std::byte>>(std::uint64_t number)> load;
  // Length of the largest decoded chunk that load() reads.
  std::uint64_t source_bytes = 0;
  // Returns whether a chunk must be encoded. For other chunks, load() returns no values. Not set if
  // job() is not set.
  std::function<bool(std::uint64_t number)> is_encoded{};
  // Returns a job by which a helper encodes the chunks with these ascending numbers. The job is
  // empty if the stored chunks that it needs have more than `most` bytes; load() must then be
  // called instead. Not set if helpers cannot encode these chunks.
  std::function<Result<std::vector<std::byte>>(std::span<const std::uint64_t> numbers,
                                               std::uint64_t most)>
      job{};
};

struct CodedChunk {
  std::vector<std::byte> bytes;  // empty if load() returned no values
  std::uint32_t mask = 0;        // bit i is set if the filter with number i was skipped
  bool operator==(const CodedChunk&) const = default;
};

// Other processes that encode chunks.
class ChunkHelpers {
 public:
  virtual ~ChunkHelpers() = default;
  // Returns the number of helpers, which may be 0.
  virtual std::size_t count() const = 0;
  // Sends jobs[i] to helper i unless the job is empty, and returns when the helpers have their
  // jobs. There must be one job for each helper. Each call must be followed by a call of receive().
  virtual Status send(std::vector<std::vector<std::byte>> jobs) = 0;
  // Waits for the results of the last jobs. Returns for each helper the encoded chunks in the order
  // of their numbers, with nullopt for a chunk that could not be encoded.
  virtual Result<std::vector<std::vector<std::optional<CodedChunk>>>> receive() = 0;
};

struct CodingRules {
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;  // may be nullptr
  ChunkHelpers* helpers = nullptr;            // may be nullptr
};

// The most decoded bytes of all chunks that are encoded at the same time.
inline constexpr std::uint64_t kCodedAtOnce = 64 << 20;

// Encodes all chunks, and calls take(first, coded) for several chunks at a time, in ascending
// order. `first` is the number of the first chunk in `coded`. The encoded bytes do not depend on
// the number of threads and helpers. The chunks in memory have about 64 MiB, and jobs for helpers
// up to 128 MiB more; large chunks and a memory limit reduce the number of chunks in memory.
// Errors: those of load() and take(); kIo "interrupted". If the memory limit is too low for one
// chunk, the message states a limit that is enough.
Status code_chunks(
    const ChunksToCode& chunks, const CodingRules& rules,
    const std::function<Status(std::uint64_t first, std::span<const CodedChunk> coded)>& take);

}  // namespace nmb
