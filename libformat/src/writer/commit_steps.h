// The steps of a commit, in the order in which writer/commit.cpp calls them. Each is collective; if
// one fails on one rank, it fails on all. `blocks`: those that this rank commits. Steps store their
// results in them and in WriterCore::next.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nmb/block_entry.h"
#include "writer/block_commit.h"
#include "writer/writer_core.h"

namespace nmb {

// --- commit_links.cpp: values that stay in other files ---
// Reads the values of linked blocks on the threads of all ranks and computes their sums.
Status sum_links(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Makes the rows of the file table: first those of the file, then new ones in the order in which
// blocks use them. The first rank keeps them; each rank learns the numbers of its files.
Status number_files(WriterCore& w, const std::vector<BlockCommit>& blocks);
Status write_file_table(WriterCore& w);

// --- commit_values.cpp ---
// Writes values to their places; free space begins after the last of them.
Status write_values(WriterCore& w, std::vector<BlockCommit>& blocks);
// Sets what the entry states of an extent, from the block's pieces. Not collective.
Status describe_extent(WriterCore& w, BlockCommit& block);
// Keeps values that nobody has changed. Not collective.
void keep_committed_extent(const WriterCore& w, BlockCommit& block);

// --- commit_growth.cpp ---
// Computes the stamp of the generation (spec/format.md, section 5.1), and decides which blocks get
// growth pages. Afterwards the pieces of every block's extent are known.
Status choose_growth(WriterCore& w, std::vector<BlockCommit>& blocks, bool with_view);
// If growth was folded, writes one page with the rows that stay, which replaces all pages.
Status replace_growth(WriterCore& w);
// Sends the rows of the blocks that this rank keeps to the first rank. Not collective.
void put_growth(const WriterCore& w, const std::vector<BlockCommit>& blocks, MessageWriter& out);
// Called by the first rank: writes the rows that all ranks have sent. Not collective.
Status write_growth(WriterCore& w, std::span<MessageReader> told);

// --- commit_maps.cpp ---
struct MapToWrite {
  std::uint64_t order;
  // Returns the place of the root. It may be called several times, and then has to write the same.
  std::function<Result<Place>(PageSink&)> write;
  Place* place;  // of the root afterwards
};
// Writes data maps of all ranks by ascending order. maps: of this rank, ascending.
Status write_maps_in_order(WriterCore& w, std::span<const MapToWrite> maps);
// Writes pages of data maps, in the order in which the blocks were created.
Status write_maps(WriterCore& w, std::vector<BlockCommit>& blocks);

// --- commit_blocks.cpp ---
Status write_blocks(WriterCore& w, std::vector<BlockCommit>& blocks);
// Writes headers without a body for blocks that were removed or renamed.
Status write_tombstones(WriterCore& w);
// Returns where a block ends that end_define() has placed. Not collective.
std::uint64_t block_end(const WriterCore& w, BlockId id);

// --- commit_index.cpp ---
// The owners of slices of the name space write a new index, or the pages of the index that change.
Status write_index(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Not collective.
BlockEntry entry_of(const WriterCore& w, const BlockCommit& block);

// --- commit_tables.cpp ---
Status write_statistics(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Writes the tags of blocks that were packed with tags. Tags of other blocks stay as they are.
Status write_tags(WriterCore& w, const std::vector<BlockCommit>& blocks);

// --- commit_view.cpp ---
// The first rank writes the HDF5 view of the blocks of all ranks, after them. If no view can be
// made, an older one stays.
Status write_view(WriterCore& w);
// Warns that the HDF5 view is older than the committed generation; only the first commit for which
// this is true does.
Status tell_of_old_view(WriterCore& w);

// --- commit_end.cpp ---
// The first rank writes the growth and the dead ranges of all ranks.
Status write_dead_map(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Flushes everything to the device before the first rank writes the superblock.
Status write_superblock(WriterCore& w);

}  // namespace nmb
