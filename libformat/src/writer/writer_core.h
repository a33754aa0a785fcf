// WriterCore: the state of a writer on each rank, on which its calls work. docs/architecture.md
// lists its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "format/block/body_codec.h"
#include "nmb/communicator.h"
#include "nmb/detail/grow_array.h"
#include "nmb/writer.h"
#include "parallel/collective_call.h"
#include "parallel/name_slices.h"
#include "values/open_requests.h"
#include "writer/block_set.h"
#include "writer/committed_state.h"
#include "writer/counted_output.h"
#include "writer/name_matching.h"
#include "writer/next_generation.h"
#include "writer/phase_clock.h"
#include "writer/piece_exchange.h"
#include "writer/rank_work.h"
#include "writer/stage.h"
#include "writer/stripe_writer.h"
#include "writer/write_buffer.h"

namespace nmb {

// The arguments of a call of iput().
struct PutRequest {
  BlockId block;
  VarId variable;
  Hyperslab slab;
  ConstArray values;
};

// Names of blocks after the last end_define() of several ranks.
struct MatchedNames {
  NameSlices slices;
  OwnedNames owned;
  bool move = false;  // a rank has defined, removed or renamed a block since the last commit
};

struct WriterCore {
  // ranks: nullptr for a single process.
  WriterCore(std::unique_ptr<OutputFile> output, const WriterOptions& options, Communicator* ranks,
             const Aggregation& aggregation);
  ~WriterCore();
  WriterCore(const WriterCore&) = delete;
  WriterCore& operator=(const WriterCore&) = delete;

  // Runs a collective operation: all ranks begin it, and none if the file is in doubt. A failure on
  // several ranks is a failure of all and permanent, because their states may differ.
  template <class Work>
  Status together(std::string_view operation, Work work);
  // Remembers failures after which the file is in doubt.
  Status keep(Status status);
  // Call this at the end of the writer, closed or not: other ranks would wait in their next
  // collective call for a rank that has left silently.
  void leave();
  // Releases the file; every later call fails with kUsage.
  void shut();

  std::uint64_t new_generation() const { return committed.superblock.generation + 1; }
  // Returns the origin of structures that the next commit writes.
  Origin new_origin() const { return {committed.superblock.file_id, new_generation(), next.stamp}; }

  Communicator alone;
  WriterOptions options;
  RankWork ranks;
  const Traffic traffic_before;
  const std::uint64_t number;     // of this file among those of the ranks
  std::uint64_t agreed_failures;  // when all ranks went on last
  Status out_of_memory;           // made ahead: later there may be no memory for it
  Status failure;                 // what broke the file; ok: still sound
  bool failed_together = false;   // all ranks have it: nobody waits for another any more
  bool calls_differed = false;    // so it failed, perhaps with another writer on other ranks
  PhaseClock clock;
  bool define_mode = true;
  bool abandoned = false;
  bool others_go_on = false;  // other ranks may, after this one has gone

  // --- the way into the file ---
  const std::shared_ptr<CountedOutput::Counts> counts = std::make_shared<CountedOutput::Counts>();
  std::unique_ptr<OutputFile> file;
  const Aggregation aggregation;
  WriteBuffer buffer;          // for values; if the rank is alone, for everything
  StripeWriter stripes;        // for metadata and index
  StripeWriter value_stripes;  // for values that have waited

  // --- what is known ---
  CommittedState committed;
  NextGeneration next{committed.superblock, stripes};
  BlockSet blocks;
  MatchedNames names;
  // Stored bodies, so that the commit need not encode them again. A compressed body is small
  // compared with its definitions, which are in memory anyway; other bodies are kept up to a
  // smaller limit.
  GrowArray<std::byte> retained;
  std::unique_ptr<BodyCompressor> compressor;
  Stage stage;  // values that wait for places
  OpenRequests<PutRequest> requests;
  PieceExchange::WrittenFor written_for;  // by values put together since the last commit
  std::uint64_t without_statistics = 0;   // number of variables, in all commits
};

template <class Work>
Status WriterCore::together(std::string_view operation, Work work) {
  if (ranks.is_alone()) {
    NMB_TRY(failure);
    return work();
  }
  // Other ranks may have left.
  if (failed_together) return failure;
  const std::uint64_t differed = ranks.communicator().differing_calls();
  Status status = collective_call(ranks.communicator(), out_of_memory, [&]() -> Status {
    NMB_TRY(ranks.agree(failure, operation, number));
    agreed_failures = ranks.communicator().agreed_failures();
    return work().in_file(file->name());
  });
  if (!status.ok()) {
    failure = status;
    failed_together = true;
    calls_differed = ranks.communicator().differing_calls() != differed;
  }
  return status;
}

}  // namespace nmb
