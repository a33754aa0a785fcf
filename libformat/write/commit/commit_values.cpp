// Commits: writes values to their positions and describes them for the index (spec/format.md,
// section 10.1).
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "commit/statistics_counting.h"
#include "extent/needs.h"
#include "origins/move_sharing.h"
#include "state/commit_steps.h"
#include "state/stored_blocks.h"
#include "wire/checked.h"

namespace nmb {

// Returns true if a file number refers to an original. A row that this commit adds is either one of
// its originals or an external file.
Result<bool> is_original(const WriterCore& w, std::uint32_t number) {
  if (number == 0) return false;
  // The originals have ascending numbers.
  if (std::ranges::binary_search(w.next.originals, number, {}, &StoredOriginal::number))
    return true;
  if (!w.committed.reader) return false;
  NMB_ASSIGN(const std::shared_ptr<const FileTable> table, w.committed.reader->external().table());
  return number <= table->rows() && table->is_original(number - 1);
}

Status describe_extent(WriterCore& w, BlockCommit& c) {
  const BlockState& block = w.blocks[c.id];
  c.hole = std::ranges::all_of(c.pieces, [](const Piece& p) { return p.hole; });
  if (c.hole) {
    c.pieces.clear();
    return {};
  }
  bool one_run = true;
  for (const Piece& piece : c.pieces) {
    NMB_ASSIGN(const bool original, is_original(w, piece.file));
    c.needs |= needs_of_piece(piece, original);
  }
  for (const Piece& piece : c.pieces)
    one_run = one_run && piece.is_plain() && piece.position == c.pieces[0].position + piece.logical;
  if (one_run) c.extent_position = c.pieces[0].position;
  if (one_run && c.pieces.size() == 1) {
    const bool header_says =
        c.rewritten || (block.committed && !block.committed->has_map() &&
                        block.committed->extent_position == c.extent_position &&
                        block.committed->extent_length == block.next.extent_length);
    if (header_says) {
      c.extent_sum = c.pieces[0].sum;
      c.pieces.clear();
    }
  }
  return {};
}

void keep_committed_extent(const WriterCore& w, BlockCommit& c) {
  const BlockEntry& entry = *w.blocks[c.id].committed;
  c.extent_position = entry.extent_position;
  c.extent_sum = entry.extent_sum;
  c.map = entry.map;
  c.hole = entry.hole;
  c.needs = entry.needs & kNeedsOfValues;
}

namespace {

// Moves values from their sources to their places in the file. Collective.
Status move_pending(WriterCore& w, const std::vector<BlockCommit>& blocks, bool any,
                    const Status& status) {
  std::vector<Move*> moves;
  bool sparse = false;
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  const auto add = [&](Move* move) {
    moves.push_back(move);
    from = std::min(from, move->position);
    to = std::max(to, move->position + move->stored_length());
    sparse = sparse || move->source->may_be_sparse();
  };
  for (const BlockCommit& commitment : blocks) {
    BlockState& block = w.blocks[commitment.id];
    if (w.options.statistics != StatisticsLevel::kNone)
      block.values.tap([&w, id = commitment.id] { return counter_of(w, id); });
    Move* const move = block.values.move();
    if (!move || w.blocks[commitment.id].inline_run) continue;
    add(move);
  }
  for (StoredOriginal& original : w.next.originals) add(&original.move);
  std::ranges::sort(moves, {}, &Move::position);
  if (w.options.dry_run) {
    for (Move* move : moves)
      move->sums.assign(move->windows(w.committed.superblock.piece_size), kWidestSum);
    return {};
  }
  if (!any) return {};
  return share_moves(
      w.ranks.communicator(), moves, *w.file, w.committed.superblock.piece_size, w.options,
      moves.empty() || sparse || !status.ok() ? status : w.file->reserve(from, to - from));
}

// Determines the pieces of a block's values, and whether they need a data map.
Status finish_extent(WriterCore& w, BlockCommit& c, std::uint64_t* kept_inline) {
  // Limit, in bytes, for the inline values that stay in memory until their blocks are written.
  constexpr std::uint64_t kMostKept = 16 << 20;
  BlockState& block = w.blocks[c.id];
  if (block.next.extent_length == 0) return {};
  // The whole header of the block. Used only if this rank has only a part of the block's
  // definitions.
  std::optional<ClassicHeader> whole;
  const auto definitions = [&]() -> Result<const Metadata*> {
    NMB_TRY(load_definitions(w, c.id));
    if (!block.partial) return block.metadata.get();
    NMB_ASSIGN(whole, stored_header(w, c.id));
    return &whole->metadata;
  };
  NMB_ASSIGN(FinishedExtent finished,
             block.values.finish({block.next.extent_length, block.run_position, block.inline_run,
                                  c.rewritten, w.committed.superblock.piece_size, w.options.dry_run,
                                  w.buffer, std::ref(definitions), block.layout}));
  if (*kept_inline + finished.inline_values.size() <= kMostKept) {
    *kept_inline += finished.inline_values.size();
    c.inline_values = std::move(finished.inline_values);
  }
  c.pieces = std::move(finished.pieces);
  c.appended = finished.appended;
  return c.appended ? Status() : describe_extent(w, c);
}

}  // namespace

Status write_values(WriterCore& w, std::vector<BlockCommit>& blocks, bool moves, Status* status) {
  const bool first = w.committed.superblock.generation == 0;
  std::uint64_t used = first ? kBodyStart : round_up(w.committed.kept_length, 8);
  if (first && !w.committed.dictionary.empty())
    used =
        w.committed.superblock.dictionary.position + block_length(0, w.committed.dictionary.size());
  std::uint64_t kept_inline = 0;
  NMB_TRY(move_pending(w, blocks, moves, *status));
  auto finish = [&]() -> Status {
    for (BlockCommit& c : blocks) {
      NMB_TRY(finish_extent(w, c, &kept_inline));
      const BlockState& block = w.blocks[c.id];
      if (c.rewritten) used = std::max(used, block_end(w, c.id));
      if (block.inline_run) used = std::max(used, block.run_position + block.run_length);
      if (c.extent_position != 0)
        used = std::max(used, c.extent_position + block.next.extent_length);
      for (const Piece& piece : c.pieces)
        if (!piece.hole && piece.file == 0)
          used = std::max(used, piece.position + piece.stored_length());
    }
    finish_originals(w);
    for (const StoredOriginal& original : w.next.originals)
      used = std::max(used, original.move.position + original.size());
    // Flushes the buffers, because after this step another rank, or the writer of metadata, may
    // write to gaps between the bytes of this rank.
    return w.buffer.flush();
  };
  if (status->ok()) *status = finish();
  w.next.cursor = round_up(used, 8);
  return {};
}

}  // namespace nmb
