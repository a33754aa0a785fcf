// The steps of a commit, in the order in which writer/commit.cpp takes them. Each is collective,
// and all ranks fail if one does. `blocks`: those that this rank commits. What a step finds goes to
// them and to WriterCore::next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nmb/block_entry.h"
#include "writer/block_commit.h"
#include "writer/writer_core.h"

namespace nmb {

// --- commit_links.cpp: values that stay in other files ---
// Reads the values of linked blocks, by the threads of all ranks as values are moved.
Status sum_links(WriterCore& w, const std::vector<BlockCommit>& blocks);
// The rows of the file table, those of the file first, then new ones in the order in which blocks
// use them. The first rank keeps them, all learn the numbers of theirs.
Status number_files(WriterCore& w, const std::vector<BlockCommit>& blocks);
Status write_file_table(WriterCore& w);

// --- commit_values.cpp ---
// Values to their places; what is behind the last of them is free space again.
Status write_values(WriterCore& w, std::vector<BlockCommit>& blocks);
// What the entry says of an extent of the block's pieces. Not collective.
Status describe_extent(WriterCore& w, BlockCommit& block);
// Values not touched, as they were. Not collective.
void keep_committed_extent(const WriterCore& w, BlockCommit& block);

// --- commit_growth.cpp ---
// The stamp of the generation (spec/format.md, section 5.1), and what of it goes to growth pages.
// Afterwards it is known what becomes of every block's extent.
Status choose_growth(WriterCore& w, std::vector<BlockCommit>& blocks, bool with_view);
// Where growth was folded, one page of the rows that stay takes the place of all pages.
Status replace_growth(WriterCore& w);
// For the first rank: the rows of blocks that this rank keeps. Not collective.
void put_growth(const WriterCore& w, const std::vector<BlockCommit>& blocks, MessageWriter& out);
// By the first rank: what all ranks have put. Not collective.
Status write_growth(WriterCore& w, std::span<MessageReader> told);

// --- commit_maps.cpp ---
// Pages of data maps, in the order in which the blocks were created.
Status write_maps(WriterCore& w, std::vector<BlockCommit>& blocks);

// --- commit_blocks.cpp ---
Status write_blocks(WriterCore& w, std::vector<BlockCommit>& blocks);
// Headers without a body, of what was removed or renamed.
Status write_tombstones(WriterCore& w);
// Where the block ends that end_define() has placed. Not collective.
std::uint64_t block_end(const WriterCore& w, BlockId id);

// --- commit_index.cpp ---
// The owners of slices of the name space write the index, a new one or what changes of one.
Status write_index(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Not collective.
BlockEntry entry_of(const WriterCore& w, const BlockCommit& block);

// --- commit_tables.cpp ---
Status write_statistics(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Tags of blocks that were packed with some: those of others stay as they are.
Status write_tags(WriterCore& w, const std::vector<BlockCommit>& blocks);

// --- commit_view.cpp ---
// The first rank writes the HDF5 view of what all have written, behind it. One that was there
// before stays where none can be made.
Status write_view(WriterCore& w);
// That a view stays behind what is committed is told by the first commit for which it is so.
Status tell_of_old_view(WriterCore& w);

// --- commit_end.cpp ---
// The growth and the dead ranges of all ranks, written by the first.
Status write_dead_map(WriterCore& w, const std::vector<BlockCommit>& blocks);
// Everything is on the device before the first rank writes the superblock.
Status write_superblock(WriterCore& w);

}  // namespace nmb
