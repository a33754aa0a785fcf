// Chunks that other ranks encode. Rank 0 sends a rank one job for several chunks. A job has the
// stored bytes from which the values of the chunks come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "merge/uniting/array_form.h"
#include "model/extension.h"
#include "parallel/communicator.h"
#include "values/chunk_coding.h"
#include "values/chunk_grid.h"
#include "values/gathered_chunk.h"
#include "wire/failure.h"

namespace nmb {

// The united array.
struct ChunkJobArray {
  ChunkGrid::Lengths lengths;
  ChunkGrid::Lengths chunk;  // lengths of a chunk
  ArrayForm form;
  std::vector<Filter> filters;
  std::vector<std::byte> fill;
};

// How the values of a box are stored in its chunks.
struct ChunkJobForm {
  ArrayForm form;
  bool maps_fill = false;  // see widening()
};

// Makes a job on rank 0.
class ChunkJobMaker {
 public:
  // `grid` has the chunks of `array`, and must outlive the object. `most` is the maximum number of
  // bytes in the stored chunks of the job.
  ChunkJobMaker(ChunkJobArray array, const ChunkGrid& grid, std::uint64_t most)
      : array_(std::move(array)), grid_(grid), most_(most) {}

  // Adds a chunk. Chunks must be added in the ascending order of their numbers.
  void add(std::uint64_t number) { chunks_.push_back({number, {}}); }
  // Takes values of the last added chunk from the stored chunks of a box, which must outlive the
  // object. If take_from() is not called, finish() gets the values. Errors: kDamaged, kIo.
  Status take_from(const BoxInChunks& box, const ChunkJobForm& form);
  // Returns the job. Returns no bytes if the stored chunks have too many bytes. load(number) must
  // return the values of a chunk. Errors: those of load(); kDamaged, kIo.
  Result<std::vector<std::byte>> finish(
      const std::function<Result<std::vector<std::byte>>(std::uint64_t number)>& load) const;

 private:
  struct SourceBox {
    const BoxInChunks* box;
    ChunkJobForm form;
    std::map<std::uint64_t, ChunkRow> rows;  // the needed stored chunks, by number
  };
  struct Chunk {
    std::uint64_t number;
    std::vector<std::uint64_t> parts;  // indexes in parts_
  };

  bool is_too_long() const { return stored_bytes_ > most_; }

  const ChunkJobArray array_;
  const ChunkGrid& grid_;
  const std::uint64_t most_;
  std::vector<SourceBox> parts_;
  std::map<const BoxInChunks*, std::uint64_t> places_;  // indexes in parts_
  std::vector<Chunk> chunks_;
  std::uint64_t stored_bytes_ = 0;  // approximate memory of the stored chunks and their rows
};

// On rank 0: the other ranks, which run serve_jobs().
class RankHelpers final : public ChunkHelpers {
 public:
  // `ranks` must outlive the object.
  explicit RankHelpers(Communicator& ranks) : ranks_(ranks) {}
  std::size_t count() const override { return static_cast<std::size_t>(ranks_.size()) - 1; }
  Status send(std::vector<std::vector<std::byte>> jobs) override;
  Result<std::vector<std::vector<std::optional<CodedChunk>>>> receive() override;
  // Ends serve_jobs() on all ranks. Must be called exactly once for each call of serve_jobs().
  Status end();

 private:
  Communicator& ranks_;
};

// Encodes the chunks of the job in `message`. The result has no chunks if the job cannot be used.
std::vector<std::optional<CodedChunk>> encode_chunks(std::span<const std::byte> message,
                                                     const CodingRules& rules);

// Answers the jobs of rank 0 with encode(job), until rank 0 calls RankHelpers::end(). Errors: only
// those of messages. Rank 0 repeats the work if a result is missing, and reports the error.
Status serve_jobs(Communicator& ranks, const std::function<std::vector<std::optional<CodedChunk>>(
                                           std::span<const std::byte> message)>& encode);

}  // namespace nmb
