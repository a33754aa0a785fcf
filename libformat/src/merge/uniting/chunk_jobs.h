// Chunks that other ranks encode. Rank 0 describes such a chunk by a ChunkJob, which has the stored
// bytes from which the values of the chunk come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "merge/uniting/array_form.h"
#include "nmb/communicator.h"
#include "nmb/extension.h"
#include "nmb/status.h"
#include "values/chunk_coding.h"
#include "values/chunk_grid.h"
#include "values/gathered_chunk.h"

namespace nmb {

// Stored chunks of one dataset.
struct ChunkJobPart {
  ChunkGrid::Lengths first;    // index of the first value in the united array
  ChunkGrid::Lengths lengths;  // lengths of the box that these chunks fill
  ChunkGrid::Lengths chunk;    // lengths of a chunk
  ArrayForm form;
  bool maps_fill = false;  // see widening()
  std::vector<Filter> filters;
  std::vector<std::byte> fill;    // value of chunks that were never written, in the united form
  std::vector<std::byte> region;  // the table of the chunks, and their stored bytes
};

struct ChunkJob {
  ChunkGrid::Lengths lengths;  // lengths of the united array
  ChunkGrid::Lengths chunk;    // lengths of its chunks
  std::uint64_t number = 0;    // number of the chunk
  ArrayForm form;
  std::vector<Filter> filters;
  std::vector<std::byte> fill;
  std::vector<ChunkJobPart> parts;
  std::vector<std::byte> values;  // used if there are no parts

  std::vector<std::byte> bytes() const;  // for a message
};

// Adds to *part the stored chunks of a box that have values of chunk `number` of `grid`. Sets the
// members `first`, `lengths`, `chunk`, `fill` and `region`.
Status add_stored_chunks(const BoxInChunks& box, const ChunkGrid& grid, std::uint64_t number,
                         ChunkJobPart* part);

// On rank 0: the other ranks, which run serve_chunk_jobs().
class RankHelpers final : public ChunkHelpers {
 public:
  // `ranks` must outlive the object.
  explicit RankHelpers(Communicator& ranks) : ranks_(ranks) {}
  std::size_t count() const override { return static_cast<std::size_t>(ranks_.size()) - 1; }
  Status send(const std::vector<std::vector<std::byte>>& jobs) override;
  Result<std::vector<std::optional<CodedChunk>>> receive() override;
  // Ends serve_chunk_jobs() on all ranks. Must be called exactly once.
  Status end();

 private:
  Communicator& ranks_;
  std::size_t sent_ = 0;  // number of jobs that were sent last
};

// Encodes chunks for rank 0, until rank 0 calls RankHelpers::end(). Errors: only those of messages.
// Rank 0 repeats each job that fails, and reports its error.
Status serve_chunk_jobs(Communicator& ranks, const CodingRules& rules);

}  // namespace nmb
