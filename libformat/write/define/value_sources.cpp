#include "define/value_sources.h"

#include <memory>
#include <utility>

#include "define/definitions.h"
#include "model/name_rules.h"
#include "state/stored_blocks.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

Result<BlockId> pack_block(WriterCore& w, PackedBlock packed) {
  if (!is_classic(packed.kind) && packed.kind != Kind::kExtended)
    return Status(Code::kUnsupported,
                  joined_text("found body kind ", static_cast<unsigned>(packed.kind), " of block ",
                              in_quotes(packed.name), ", expected 1, 2, 5 or 6"));
  std::uint64_t end = 0;
  for (const ByteRange& hole : packed.holes) {
    if (hole.begin < end || hole.end <= hole.begin || hole.end > packed.extent_length)
      return Status(Code::kUsage,
                    "the holes must be in ascending order and inside the extent of block " +
                        in_quotes(packed.name));
    end = hole.end;
  }
  if (packed.new_digests != RecordedDigests::kNone &&
      (!packed.holes.empty() || (!packed.extent && packed.extent_length > 0)))
    return Status(Code::kUsage, "digests of a file need a block without holes; block " +
                                    in_quotes(packed.name) + " has holes");
  packed.holes =
      whole_windows(packed.holes, packed.extent_length, w.committed.superblock.piece_size);
  if (packed.holes == std::vector<ByteRange>{{0, packed.extent_length}}) packed.extent.reset();
  NMB_ASSIGN(BlockId id, Definitions(w).define_block(packed.name, nullptr, packed.names));
  BlockState& block = w.blocks[id];
  std::unique_ptr<OrderedDigest> digest;
  if (packed.new_digests != RecordedDigests::kNone)
    digest = std::make_unique<OrderedDigest>(
        packed.extent_length, packed.new_digests == RecordedDigests::kSha256, packed.body);
  if (packed.extent && packed.extent_length > 0) {
    MovedValues moved({.source = packed.extent,
                       .origin = packed.origin,
                       .runs = {{0, 0, 0, 0, packed.extent_length, 1}},
                       .length = packed.extent_length,
                       .holes = packed.holes});
    if (digest) moved.digest(std::move(digest));
    block.values = ExtentOrigin(std::move(moved));
  } else {
    block.values = ExtentOrigin(NoValues());
    if (digest) {
      NMB_TRY(digest->add_nothing());
      packed.file_digests = digest->digests();
    }
  }
  packed.name.clear();
  block.pack(std::make_unique<PackedBlock>(std::move(packed)));
  return id;
}

Status take_pieces(WriterCore& w, BlockId id, std::vector<StoredPiece> pieces,
                   std::shared_ptr<const ByteSource> stored) {
  NMB_TRY(w.failure);
  NMB_TRY(check_id(w, id));
  if (!w.define_mode) return outside_define_mode();
  BlockState& block = w.blocks[id];
  if (block.is_laid_out())
    return Status(Code::kUsage, "take_pieces() needs a new block; " + in_quotes(w.blocks.name(id)) +
                                    " is not new");
  NMB_ASSIGN(ReadyPieces ready,
             ReadyPieces::make(std::move(pieces), std::move(stored),
                               w.committed.superblock.piece_size, w.blocks.name(id)));
  block.values = ExtentOrigin(std::move(ready));
  return {};
}

Status take_values(WriterCore& w, BlockId id, std::shared_ptr<const ByteSource> source,
                   std::vector<ValueRuns> runs, std::string origin) {
  NMB_TRY(w.failure);
  NMB_TRY(check_id(w, id));
  BlockState& block = w.blocks[id];
  if (w.define_mode || block.run_position == 0 || block.values.extent() ||
      !block.values.takes_puts())
    return Status(Code::kUsage, "take_values() of block " + in_quotes(w.blocks.name(id)) +
                                    " needs a new block with values, after end_define() and before "
                                    "any put()");
  if (block.sharing)
    return Status(Code::kUsage, "several ranks share block " + in_quotes(w.blocks.name(id)) +
                                    "; use put() in place of take_values()");
  std::uint64_t end = 0;
  for (const ValueRuns& run : runs) {
    std::uint64_t last, to;
    if (run.count == 0 || run.length == 0 || run.extent_offset < end ||
        (run.count > 1 && run.extent_stride < run.length) ||
        !checked_mul(run.count - 1, run.extent_stride, &last) ||
        !checked_add(run.extent_offset, last, &to) || !checked_add(to, run.length, &to) ||
        to > block.next.extent_length)
      return Status(
          Code::kUsage,
          "the runs of values must be in ascending order and inside the extent of block " +
              in_quotes(w.blocks.name(id)));
    end = to;
  }
  block.values = ExtentOrigin(MovedValues({.source = std::move(source),
                                           .origin = std::move(origin),
                                           .runs = std::move(runs),
                                           .length = block.next.extent_length,
                                           .position = block.run_position}));
  return {};
}

Status link_values(WriterCore& w, BlockId id, LinkedValues values) {
  NMB_TRY(w.failure);
  NMB_TRY(check_id(w, id));
  BlockState& block = w.blocks[id];
  if (!w.define_mode || block.is_laid_out())
    return Status(Code::kUsage, "link_values() of block " + in_quotes(w.blocks.name(id)) +
                                    " needs define mode and a new block");
  if (values.original && *values.original >= w.next.originals.size())
    return Status(Code::kUsage, "link_values() of block " + in_quotes(w.blocks.name(id)) +
                                    ": the original was not added");
  NMB_ASSIGN(
      LinkedPieces linked,
      LinkedPieces::make(std::move(values), w.committed.superblock.piece_size, w.blocks.name(id)));
  block.values = ExtentOrigin(std::move(linked));
  return {};
}

std::uint64_t pending_bytes(const WriterCore& w) {
  std::uint64_t bytes = 0;
  for (BlockId id = 0; id < w.blocks.size(); ++id) bytes += w.blocks[id].values.moved_bytes();
  for (const StoredOriginal& original : w.next.originals) bytes += original.size();
  return bytes;
}

std::uint64_t linked_bytes(const WriterCore& w) {
  std::uint64_t bytes = 0;
  for (BlockId id = 0; id < w.blocks.size(); ++id)
    if (const auto* const linked = w.blocks[id].values.as<LinkedPieces>();
        linked && !linked->original())
      bytes += linked->linked_bytes();
  return bytes;
}

}  // namespace nmb
