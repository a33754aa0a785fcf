// WriterCore: the state of a writer on one rank. The functions of Writer read and change this
// state. docs/design/writer.md lists the parts of the state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "block/body_codec.h"
#include "origins/stage.h"
#include "parallel/collective_call.h"
#include "parallel/communicator.h"
#include "parallel/name_slices.h"
#include "ranks/counted_output.h"
#include "ranks/phase_clock.h"
#include "ranks/rank_work.h"
#include "ranks/stripe_writer.h"
#include "ranks/write_buffer.h"
#include "ranks/writer_options.h"
#include "state/block_set.h"
#include "state/committed_state.h"
#include "state/name_matching.h"
#include "state/new_tags.h"
#include "state/next_generation.h"
#include "state/piece_exchange.h"
#include "values/element_runs.h"
#include "values/open_requests.h"
#include "values/run_cursor.h"
#include "wire/grow_array.h"

namespace nmb {

// The arguments of an iput() call.
struct PutRequest {
  BlockId block;
  VarId variable;
  std::variant<Hyperslab, std::vector<NumberedRun>> selected;
  ConstArray values;
};

// The division of block names among ranks, as the last end_define() on several ranks made it.
struct MatchedNames {
  NameSlices slices;
  OwnedNames owned;
  // True if a rank has defined, removed or renamed a block since the last commit.
  bool move = false;
  // Orders of the committed blocks that a rank has changed, removed or renamed since the last
  // commit, ascending.
  std::vector<std::uint64_t> changed;
};

// The last matching of the ranks that put values to committed blocks. Its result depends only on
// the claims of all ranks, so it need not be repeated while no rank claims anything else: a program
// that adds a time step to the same blocks again and again matches them once.
struct MatchedValues {
  // Claims of this rank for the next matching, by name; valid until a block is added or changed.
  std::vector<NameRecord> claims;
  Digest digest;  // of `claims`
  // Of the claims of the last matching; empty before the first, and after a failed one.
  std::optional<Digest> matched;
  // The shared ones of the claims that were matched, by their index.
  std::vector<std::pair<std::size_t, NameMatch>> shared;

  bool differ() const { return matched != digest; }
};

// Returns whether a file with these options gets metadata that can be read. A dry run writes
// metadata only for FileWriterOptions::before_publish.
inline bool keeps_metadata(const FileWriterOptions& options, const Communicator& ranks) {
  return !options.dry_run ||
         (options.before_publish && (ranks.size() == 1 || ranks.shares_memory()));
}

struct WriterCore {
  // ranks: the ranks that write the file, or nullptr for a single process.
  WriterCore(std::unique_ptr<OutputFile> output, const FileWriterOptions& options,
             Communicator* ranks, const Aggregation& aggregation);
  ~WriterCore();
  WriterCore(const WriterCore&) = delete;
  WriterCore& operator=(const WriterCore&) = delete;

  // Runs a collective operation. check() checks the arguments of this rank and changes nothing. If
  // it fails on a rank, or if a failure has left the file in doubt on any rank, no rank begins
  // work(). If work() fails on one of several ranks, it fails on all ranks, and so do all later
  // operations, because the states of the ranks may differ. An exception has the same effect.
  template <class Check, class Work>
  Status together(std::string_view operation, Check check, Work work);
  // Agrees on a status while the operation has changed nothing on any rank. If it is not ok, the
  // operation fails on all ranks, but later operations do not.
  Status agree_unchanged(const Status& status, std::string_view operation = {});
  // Returns `status`. If the file is in doubt after this status, stores the status as `failure`.
  Status keep(Status status);
  // Tells the other ranks that this rank's writer ends. Must be called in the destructor of each
  // writer, closed or not, because the other ranks would wait for this rank in their next
  // collective call.
  void leave();
  // Releases the file. Every later call fails with kUsage.
  void shut();

  std::uint64_t new_generation() const { return committed.superblock.generation + 1; }
  // Returns the origin of structures that the next commit writes.
  Origin new_origin() const { return {committed.superblock.file_id, new_generation(), next.stamp}; }

  Communicator alone;
  FileWriterOptions options;
  RankWork ranks;
  const Traffic traffic_before;
  const std::uint64_t number;  // number of this file; the ranks number all files that they open
  // Value of Communicator::agreed_failures() when the last collective operation began.
  std::uint64_t agreed_failures;
  // The out-of-memory status, created in advance, because there may be no memory for it later.
  Status out_of_memory;
  // The failure that has left the file in doubt, or ok if no such failure has occurred.
  Status failure;
  // True if all ranks know of the failure, so that no rank waits for another.
  bool failed_together = false;
  // True if the last collective operation failed in agree_unchanged().
  bool refused = false;
  // True if a collective operation failed because the ranks called different operations, perhaps of
  // different writers.
  bool calls_differed = false;
  PhaseClock clock;
  bool define_mode = true;
  // True if a block that end_define() had placed was removed or renamed in this define mode.
  bool moved_names = false;
  bool abandoned = false;
  bool others_go_on = false;  // true if other ranks may continue after this rank has left

  // --- output to the file ---
  const std::shared_ptr<CountedOutput::Counts> counts = std::make_shared<CountedOutput::Counts>();
  std::unique_ptr<OutputFile> file;
  const Aggregation aggregation;
  WriteBuffer buffer;          // buffer for values; with one rank, for all bytes
  StripeWriter stripes;        // writer for metadata and the index
  StripeWriter value_stripes;  // writer for values that have waited for places

  // --- state of the file and its blocks ---
  CommittedState committed;
  NextGeneration next{committed.superblock, stripes};
  BlockSet blocks;
  NewTags tags{ranks.own()};
  MatchedNames names;
  MatchedValues values;
  // Bodies in stored form, which the commit need not encode again. Compressed bodies may use more
  // memory than others, because a compressed body is small compared with the block's definitions,
  // which are in memory anyway.
  GrowArray<std::byte> retained;
  std::unique_ptr<BodyCompressor> compressor;
  Stage stage;  // values that wait for places
  // True if this rank may have changed values or opened blocks since the ranks last exchanged which
  // bytes they have written (put/value_exchange.h).
  bool unexchanged = true;
  // Committed blocks that this rank knows and to which it has put no values, as of that exchange.
  std::vector<BlockId> knowing;
  // Values that this rank has put to shared blocks by collective calls since then.
  std::vector<std::pair<BlockId, RunCursor>> own_puts;
  std::size_t own_runs = 0;     // that own_puts has in memory
  std::uint64_t exchanges = 0;  // number of messages about written bytes (ExtentState::exchange)
  OpenRequests<PutRequest> requests;
  PieceExchange::WrittenFor written_for;  // bytes written by collective puts since the last commit
  // Total number of variables without statistics in all commits of this writer.
  std::uint64_t without_statistics = 0;
};

template <class Check, class Work>
Status WriterCore::together(std::string_view operation, Check check, Work work) {
  const bool is_alone = ranks.is_alone();
  // Other ranks may have left, so this rank must not wait for them.
  if (is_alone || failed_together) NMB_TRY(failure);
  const std::uint64_t differed = ranks.communicator().differing_calls();
  bool returned = false;  // whether no exception has ended the operation
  refused = false;
  const auto run = [&]() -> Status {
    NMB_TRY(agree_unchanged(failure.ok() ? keep(check()) : failure, operation));
    agreed_failures = ranks.communicator().agreed_failures();
    const Status status = work();
    return is_alone ? status : status.in_file(file->name());
  };
  Status status = collective_call(ranks.communicator(), out_of_memory, [&] {
    const Status ran = run();
    returned = true;
    return ran;
  });
  if (!status.ok() && (!returned || (!is_alone && !refused))) {
    failure = status;
    failed_together = !is_alone;
    calls_differed = ranks.communicator().differing_calls() != differed;
  }
  return status;
}

}  // namespace nmb
