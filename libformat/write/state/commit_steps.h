// The steps of a commit, in the order in which commit/commit.cpp calls them. Each step is
// collective unless stated otherwise, and a step that fails on one rank fails on all ranks. The
// parameter `blocks` lists the blocks that this rank commits. The steps store their results in
// `blocks` and in WriterCore::next.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "state/block_commit.h"
#include "state/writer_core.h"
#include "wire/block_entry.h"

namespace nmb {

// --- commit_links.cpp: values that stay in other files ---
// Reads the values of linked blocks and computes their sums. The threads of all ranks share this
// work.
Status sum_links(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Makes the rows of the file table: the existing rows, and then the new rows, sorted by rank. The
// new rows of one rank are in the order in which its blocks use the files. Rank 0 keeps the rows,
// and each rank receives the numbers of its own files.
Status number_files(WriterCore& w, const std::vector<BlockCommit>& blocks);
Status write_file_table(WriterCore& w);

// --- commit_values.cpp ---
// Writes values to their positions in the file. Sets w.next.cursor to the end of this rank's
// values. moves: whether values of any rank are copied. *status: the status of this rank so far, on
// which the ranks must agree later.
Status write_values(WriterCore& w, std::vector<BlockCommit>& blocks, bool moves, Status* status);
// Uses the block's pieces to compute the index-entry fields that describe the extent. Not
// collective.
Status describe_extent(WriterCore& w, BlockCommit& block);
// Copies the committed description of an extent whose values did not change. Not collective.
void keep_committed_extent(const WriterCore& w, BlockCommit& block);

// --- commit_growth.cpp ---
// Computes the stamp of the generation (spec/format.md, section 5.1), and chooses the blocks whose
// changes go to a growth page. Afterwards free space begins after the last value of all ranks.
// status: the status of this rank so far, on which the ranks agree.
Status choose_growth(WriterCore& w, std::vector<BlockCommit>& blocks, bool with_view,
                     const Status& status);
// If growth was folded, replaces all growth pages by one page with the rows that stay.
Status replace_growth(WriterCore& w);
// A row of the new growth page.
struct NewGrowthRow {
  std::uint64_t order, records, logical, length, position, sum;

  template <class Fields>
  friend void fields(Fields& all, NewGrowthRow& row) {
    all.small(row.order, row.records, row.logical, row.length, row.position);
    all(row.sum);
  }
};
// The growth of a rank's blocks, which the rank sends to rank 0.
struct NewGrowth {
  std::uint64_t records = 0;
  std::vector<NewGrowthRow> rows;

  template <class Fields>
  friend void fields(Fields& all, NewGrowth& growth) {
    all.small(growth.records);
    all(growth.rows);
  }
};
// Returns the growth of this rank's blocks. Not collective.
NewGrowth growth_of(const WriterCore& w, const std::vector<BlockCommit>& blocks);
// Writes a growth page with the rows of all ranks. Not collective; called only by rank 0.
Status write_growth(WriterCore& w, NewGrowth growth);

// --- commit_maps.cpp ---
struct MapToWrite {
  std::uint64_t order;
  // Writes the pages and returns the place of the root. It may be called several times, and must
  // write the same pages each time.
  std::function<Result<Place>(PageSink&)> write;
  Place* place;  // receives the place of the root
};
// Writes the data maps of all ranks, sorted by MapToWrite::order. `maps` contains the data maps of
// this rank, sorted in the same way. `so_far`: the status of this rank; if a rank has failed, the
// call fails on all ranks.
Status write_maps_in_order(WriterCore& w, std::span<const MapToWrite> maps, const Status& so_far);
// Makes the data maps of blocks. A map with room after its block is written with the block; the
// others are written now, in the order in which the blocks were created.
Status write_maps(WriterCore& w, std::vector<BlockCommit>& blocks);

// --- commit_blocks.cpp ---
Status write_blocks(WriterCore& w, std::vector<BlockCommit>& blocks);
// Writes tombstones for removed and renamed blocks. A tombstone is a block header without a body.
Status write_tombstones(WriterCore& w);
// Returns the number of bytes of a block and of the space for its data map. Not collective.
std::uint64_t block_space(const WriterCore& w, BlockId id);
// Returns the file position at which a block and the space for its data map end. The function
// end_define() must have placed the block. Not collective.
std::uint64_t block_end(const WriterCore& w, BlockId id);

// --- commit_index.cpp ---
// Writes a new index, or the pages of the index that change. Each rank that owns a slice of the
// name space writes the pages of its slice.
Status write_index(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Not collective.
BlockEntry entry_of(const WriterCore& w, const BlockCommit& block);
// Returns whether two entries of a block have the same definitions and values.
bool same_values(const BlockEntry& a, const BlockEntry& b);

// --- commit_tables.cpp ---
Status write_statistics(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Writes the tags of new blocks: tags from FileWriter::set_tag(), and tags that packed blocks have
// in other files. Tags of committed blocks do not change.
Status write_tags(WriterCore& w, const std::vector<BlockCommit>& blocks);

// --- commit_view.cpp ---
// Sets w.next.view_options on rank 0. Returns whether the file needs a new view even if no block
// changes.
Result<bool> choose_view_options(WriterCore& w);
// Makes the HDF5 view of all blocks. Rank 0 writes the view after the blocks. If no new view is
// possible, an older view stays.
Status write_view(WriterCore& w);
// Warns that this commit makes the HDF5 view older than the newest generation. Later commits do not
// repeat the warning.
Status warn_of_old_view(WriterCore& w);

// --- commit_end.cpp ---
// Rank 0 writes the growth rows and the dead ranges of all ranks. *status: the status of this rank,
// on which the ranks must agree later.
Status write_dead_map(WriterCore& w, const std::vector<BlockCommit>& blocks, Status* status);
// Flushes all data to the device; then rank 0 writes the superblock. only_rank_0: whether no other
// rank has bytes in w.stripes. status: the status of this rank so far, on which the ranks agree.
Status write_superblock(WriterCore& w, bool only_rank_0, Status status);

}  // namespace nmb
