// Writes the region of a chunked variable: the chunk table and the chunks (spec/extended.md,
// section 15.2).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "files/spool_file.h"
#include "sources/value_source.h"
#include "values/chunk_coding.h"
#include "wire/failure.h"

namespace nmb {

// A chunk whose stored bytes are already in another source.
struct StoredChunk {
  std::uint32_t source = 0;  // index of the source; see ChunkRuns
  std::uint32_t filter_mask = 0;
  std::uint64_t offset = 0;         // offset in that source
  std::uint64_t stored_length = 0;  // 0: never written
};

// Returns chunk `number` if its stored bytes can be copied, or nullopt if it must be encoded.
using FindStored = std::function<std::optional<StoredChunk>(std::uint64_t number)>;

// Collects the parts of an extent as the runs of a form::Spliced. They must be added in the order
// of their positions in the extent.
class ChunkRuns {
 public:
  // spool: index of the spool file among the sources of the extent.
  explicit ChunkRuns(std::uint32_t spool) : spool_(spool) {}

  // Adds a run at the end. If the run directly continues the previous run, joins the two runs.
  void add(const form::Spliced::SourceRun& run);
  std::uint64_t end() const { return runs_.empty() ? 0 : runs_.back().end(); }
  std::uint32_t spool() const { return spool_; }
  std::vector<form::Spliced::SourceRun> take() { return std::move(runs_); }

 private:
  const std::uint32_t spool_;
  std::vector<form::Spliced::SourceRun> runs_;
};

// Encodes chunks on all threads and appends the chunk table and the encoded chunks to `spool`. The
// table and the chunks become a region that begins at offset `begin` of the extent. Returns the
// length of the region. For a chunk that stored() finds, chunks.load() must return no values; it
// may check the stored bytes. If `stored` is not set, all chunks are encoded. Memory: see
// code_chunks(). Errors: those of code_chunks(); kNoSpace, kIo.
Result<std::uint64_t> store_chunks(const ChunksToCode& chunks, const FindStored& stored,
                                   const CodingRules& rules, SpoolFile& spool, std::uint64_t begin,
                                   ChunkRuns* runs);

}  // namespace nmb
