#include "commit/commit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "put/requests.h"
#include "put/waiting_values.h"
#include "state/commit_steps.h"
#include "state/shared_blocks.h"
#include "superblock/view_header.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Updates the writer's state after a commit: later changes start from the new generation.
void settle(WriterCore& w, const std::vector<BlockCommit>& blocks) {
  const std::uint64_t generation = w.committed.superblock.generation;
  for (const BlockCommit& c : blocks) {
    BlockState& block = w.blocks[c.id];
    std::unique_ptr<BlockEntry> entry;
    if (c.grown) {
      BlockEntry& grown = *block.committed;
      grown.growth += block.next.extent_length - grown.extent_length;
      grown.grown_records += block.next.records - grown.records;
      grown.extent_length = block.next.extent_length;
      grown.records = block.next.records;
    } else {
      entry = std::make_unique<BlockEntry>(entry_of(w, c));
    }
    block.settle(std::move(entry), generation);
  }
  w.blocks.settle();
  w.tags.clear();
  w.next.begin_next();
  w.names = {};
  w.unexchanged = true;
  w.knowing.clear();
  w.own_puts.clear();
  w.retained.clear();
  w.committed.read_from(*w.file);
}

class Commit {
 public:
  explicit Commit(WriterCore& writer) : w_(writer) {}

  // *open: receives the number of open requests. If there are any, does nothing.
  Status run(bool closing, std::uint64_t* open) {
    NMB_ASSIGN(has_, w_.ranks.combine(own_work(), [](Work a, Work b) {
      return Work{a.waiting || b.waiting, a.any || b.any,   a.moves || b.moves, a.links || b.links,
                  a.rows || b.rows,       a.hdf5 || b.hdf5, a.open + b.open};
    }));
    *open = has_.open;
    if (*open > 0) return {};
    const Superblock& committed = w_.committed.superblock;
    with_view_ = closing && w_.options.hdf5_view != Hdf5View::kOff;
    if (w_.options.hdf5_view == Hdf5View::kSmall)
      with_view_ = with_view_ && (has_.hdf5 || !committed.view.absent());
    bool view_is_due = false;
    if (with_view_) {
      NMB_ASSIGN(view_is_due, choose_view_options(w_));
    }
    if (!w_.committed.is_none() && !has_.any && !view_is_due) return {};
    // After a failed commit, no other commit is possible, because the failed commit may have
    // counted pages that do not exist.
    w_.failure = write(closing).in_file(w_.file->name());
    return w_.failure;
  }

 private:
  // The kinds of work in this commit.
  struct Work {
    Waiting waiting;
    bool any = false;
    bool moves = false;  // values that are copied
    bool links = false, rows = false;
    bool hdf5 = false;       // blocks from HDF5 or netCDF-4
    std::uint64_t open = 0;  // requests
  };

  Work own_work() {
    Work work;
    work.any = work.links = work.moves = !w_.next.originals.empty();
    work.waiting = waiting_of(w_);
    work.open = w_.requests.size();
    if (w_.options.commits_provenance) work.any = work.any || !w_.next.provenance.empty();
    work.rows = !w_.tags.empty();
    for (const BlockId id : w_.blocks.dirty) {
      const BlockState& block = w_.blocks[id];
      work.any = true;
      work.moves = work.moves || block.values.move() != nullptr;
      work.links = work.links || block.values.as<LinkedPieces>() != nullptr;
      work.rows = work.rows || block.keeps_rows();
      work.hdf5 = work.hdf5 || (!block.is_removed() && block.next.kind == Kind::kExtended);
    }
    return work;
  }

  template <class Step>
  Status in(Phase phase, Step step) {
    const PhaseClock::Span span(w_.clock, phase);
    return step();
  }

  // Lists the blocks that this rank commits.
  void list_blocks() {
    std::vector<BlockId>& dirty = w_.blocks.dirty;
    std::ranges::sort(dirty);
    blocks_.reserve(dirty.size());
    for (const BlockId id : dirty) {
      const BlockState& block = w_.blocks[id];
      if (block.committed && block.entry_change != EntryChange::kStays)
        w_.next.dead.push_back(
            {block.committed->position,
             block_length(block.committed->name.size(), block.committed->stored_length), 0, false});
      if (block.is_removed()) continue;
      blocks_.emplace_back();
      blocks_.back().id = id;
      blocks_.back().rewritten = !block.body_stays();
    }
  }

  Status write(bool closing) {
    const PhaseClock::Span commit(w_.clock, Phase::kCommit);
    Status own;  // the status of this rank, until the ranks agree
    NMB_TRY(in(Phase::kValues, [&]() -> Status {
      NMB_TRY(place_values(w_, has_.waiting, &own));
      // A rank that alone has its blocks finds their values in its buffer.
      if (!has_.waiting.may_share()) return {};
      // All bytes from put() must be in the file before a rank computes sums: no rank ends
      // collect_values() before all have begun it.
      if (own.ok()) own = w_.buffer.flush();
      return SharedBlocks(w_).collect_values(&own);
    }));
    list_blocks();
    if (has_.links) {
      NMB_TRY(w_.ranks.agree(std::exchange(own, {})));
      NMB_TRY(sum_links(w_, blocks_));
      NMB_TRY(number_files(w_, blocks_));
    }
    NMB_TRY(in(Phase::kValues, [&] { return write_values(w_, blocks_, has_.moves, &own); }));
    NMB_TRY(choose_growth(w_, blocks_, with_view_, own));
    Superblock& next = w_.next.superblock;
    next = w_.committed.superblock;
    next.generation = w_.new_generation();
    next.next_order = w_.next.order;
    next.stamp = w_.next.stamp;
    w_.next.index_bytes = 0;
    if (w_.next.changes_entries) NMB_TRY(write_entries());
    if (has_.rows) NMB_TRY(in(Phase::kIndex, [&] { return write_tags(w_, blocks_); }));
    const std::uint64_t file_table = w_.next.cursor;
    if (has_.links) {
      NMB_TRY(send_originals(w_));
      NMB_TRY(write_file_table(w_));
    }
    w_.next.index_bytes += w_.next.cursor - file_table;
    NMB_TRY(with_view_ ? write_view(w_) : warn_of_old_view(w_));
    // Only rank 0 has metadata that are not written yet.
    const bool only_grows = !w_.next.changes_entries && !has_.rows && !has_.links && !with_view_;
    NMB_TRY(write_dead_map(w_, blocks_, &own));
    NMB_TRY(write_superblock(w_, only_grows, own));
    w_.committed.superblock = next;
    w_.next.cursor = w_.committed.kept_length = next.file_length;
    w_.next.slot_begun = false;
    if (!closing) settle(w_, blocks_);
    return {};
  }

  // Writes data maps, blocks, the index and statistics. Called only if the commit changes more than
  // growth pages.
  Status write_entries() {
    const std::uint64_t maps = w_.next.cursor;
    NMB_TRY(in(Phase::kIndex, [&]() -> Status {
      NMB_TRY(write_maps(w_, blocks_));
      return has_.links ? write_original_maps(w_) : Status();
    }));
    w_.next.index_bytes = w_.next.cursor - maps;
    NMB_TRY(in(Phase::kMetadata, [&]() -> Status {
      NMB_TRY(write_blocks(w_, blocks_));
      return write_tombstones(w_);
    }));
    const std::uint64_t index = w_.next.cursor;
    return in(Phase::kIndex, [&]() -> Status {
      NMB_TRY(write_index(w_, blocks_));
      NMB_TRY(replace_growth(w_));
      w_.next.index_bytes += w_.next.cursor - index;
      const bool counts = w_.options.statistics != StatisticsLevel::kNone ||
                          !w_.committed.superblock.statistics.absent() || has_.rows;
      return counts ? write_statistics(w_, blocks_) : Status();
    });
  }

  WriterCore& w_;
  Work has_;
  bool with_view_ = false;
  std::vector<BlockCommit> blocks_;
};

}  // namespace

Status commit(WriterCore& w, bool closing) {
  const std::string operation = closing ? "close()" : "sync()";
  std::uint64_t open = 0;
  const auto check = [&]() -> Status {
    if (w.define_mode)
      return Status(Code::kUsage,
                    operation + " is not allowed in define mode; call end_define() first");
    if (w.options.dry_run && !closing)
      return Status(Code::kUsage, "sync() is not allowed in a dry run; call close()");
    return {};
  };
  NMB_TRY(w.together(operation, check, [&]() -> Status { return Commit(w).run(closing, &open); }));
  return check_none_open(open, operation);
}

Result<FilePlan> planned(const WriterCore& w) {
  if (!w.options.dry_run || w.committed.superblock.generation == 0)
    return Status(Code::kUsage, "planned() needs a dry run after close()");
  FilePlan plan;
  plan.file_length = w.committed.superblock.file_length;
  plan.index_bytes = w.next.index_bytes;
  plan.totals = w.committed.superblock.totals;
  if (w.ranks.is_first() && !w.committed.dictionary.empty())
    plan.metadata_bytes = block_length(0, w.committed.dictionary.size());
  for (BlockId id = 0; id < w.blocks.size(); ++id) {
    const BlockState& block = w.blocks[id];
    if (block.kept && !block.is_removed()) plan.metadata_bytes += block_space(w, id);
  }
  return plan;
}

}  // namespace nmb
