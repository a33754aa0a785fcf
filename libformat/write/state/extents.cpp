#include "state/extents.h"

#include <algorithm>
#include <cassert>

namespace nmb {

namespace {

// The committed values of a block in one generation, for ExtentState::get(), which reads no holes.
struct CommittedValues {
  CommittedValues(std::uint64_t of, const BlockEntry& block) : generation(of), entry(block) {}

  const std::uint64_t generation;
  const BlockEntry entry;
  const Metadata none;
  const FillPattern no_pattern{none, {}};
  std::unique_ptr<ExtentSource> source;
};

Status read_committed(WriterCore& w, BlockId id, std::shared_ptr<CommittedValues>& values,
                      std::uint64_t offset, std::span<std::byte> out) {
  const std::uint64_t generation = w.committed.superblock.generation;
  if (!values || values->generation != generation) {
    auto opened = std::make_shared<CommittedValues>(generation, *w.blocks[id].committed);
    NMB_ASSIGN(opened->source, w.committed.reader->values_of(opened->entry, opened->no_pattern));
    values = std::move(opened);
  }
  return values->source->read_at(offset, out);
}

}  // namespace

std::unique_ptr<ExtentState> new_extent(WriterCore& w, BlockId id) {
  return std::make_unique<ExtentState>(
      w.committed.superblock.piece_size,
      [&w, id](std::uint64_t from, std::uint64_t to, const auto& visit) {
        const BlockState& block = w.blocks[id];
        return block.committed
                   ? w.committed.reader->for_each_piece(*block.committed, from, to, visit)
                   : Status();
      },
      [&w, id, values = std::shared_ptr<CommittedValues>()](std::uint64_t offset,
                                                            std::span<std::byte> out) mutable {
        return read_committed(w, id, values, offset, out);
      });
}

ExtentState* extent_of(WriterCore& w, BlockId id) {
  BlockState& block = w.blocks[id];
  if (ExtentState* const extent = block.values.extent()) return extent;
  assert(block.values.takes_puts());
  block.values = ExtentOrigin(PutValues(new_extent(w, id)));
  ExtentState* const extent = block.values.extent();
  if (block.run_position == 0) {
    extent->start_committed(block.next.extent_length);
    return extent;
  }
  extent->start_run(block.run_length, block.run_position);
  // The primary already had more records when this rank opened the block.
  if (block.run_length < block.next.extent_length) extent->add_unwritten(block.next.extent_length);
  return extent;
}

void set_records(BlockState& block, std::uint64_t records) {
  block.next.records = records;
  block.layout.records = records;
  block.next.extent_length = block.layout.end(records) - block.layout.header_length;
}

Status grow(WriterCore& w, BlockId id, std::uint64_t records) {
  BlockState& block = w.blocks[id];
  ExtentState* const extent = extent_of(w, id);
  const std::uint64_t before =
      std::max(block.layout.fixed_end, block.next.records == 0
                                           ? block.layout.record_begin
                                           : block.layout.end(block.next.records)) -
      block.layout.header_length;
  if (extent->length() > before) NMB_TRY(extent->resize(before, w.buffer, w.next));
  set_records(block, records);
  return extent->resize(block.next.extent_length, w.buffer, w.next);
}

Result<ExtentState*> start_put(WriterCore& w, BlockId id, std::uint64_t records) {
  ExtentState* const extent = extent_of(w, id);
  BlockState& block = w.blocks[id];
  if (records > block.next.records) NMB_TRY(w.keep(grow(w, id, records)));
  w.blocks.mark_dirty(id);
  w.unexchanged = true;
  return extent;
}

}  // namespace nmb
