// Commits: writes data maps (spec/format.md, section 10.2).
#include <algorithm>
#include <memory>

#include "writer/commit_steps.h"
#include "writer/ordered_space.h"

namespace nmb {

namespace {

Status write_map(WriterCore& w, BlockCommit& c, PageSink& sink) {
  const BlockState& block = w.blocks[c.id];
  if (!c.edge.empty()) {
    NMB_ASSIGN(c.map, append_to_data_map(c.pieces, c.edge, w.committed.superblock.map_rows, sink,
                                         w.new_origin(), block.next.position));
    return {};
  }
  std::unique_ptr<DataMap> old;
  if (block.committed && block.committed->has_map()) {
    old = std::make_unique<DataMap>(w.committed.reader->map_of(*block.committed));
    // Each page of a data map names the position of its block's header, so a new header needs new
    // pages.
    if (c.rewritten || c.pieces.empty()) {
      if (!c.rewritten && !c.map.absent()) return {};
      NMB_TRY(retire_data_map(*old, sink));
      old.reset();
    }
  }
  if (c.pieces.empty()) return {};
  NMB_ASSIGN(c.map, write_data_map(c.pieces, old.get(), w.committed.superblock.map_rows, sink,
                                   w.new_origin(), block.next.position));
  return {};
}

}  // namespace

// Writes the pages of data maps in the order in which the blocks were created. The length of a page
// depends slightly on its position: the ranks compute lengths and positions repeatedly until no
// length changes.
Status write_maps(WriterCore& w, std::vector<BlockCommit>& blocks) {
  class Trial final : public PageSink {
   public:
    explicit Trial(std::uint64_t position) : position_(position) {}
    std::uint64_t next_position() const override { return position_; }
    Status append(std::span<const std::byte> page) override {
      position_ += page.size();
      return {};
    }
    void replaced(const Page&) override {}
    void dropped(const Place&) override {}

   private:
    std::uint64_t position_;
  };
  std::vector<BlockCommit*> mapped;
  for (BlockCommit& c : blocks)
    if (!c.grown &&
        (!c.pieces.empty() || (w.blocks[c.id].committed && w.blocks[c.id].committed->has_map())))
      mapped.push_back(&c);
  std::ranges::sort(mapped, {}, [&](const BlockCommit* c) { return w.blocks[c->id].next.order; });
  std::vector<OrderedRequest> parts;
  for (const BlockCommit* c : mapped) parts.push_back({w.blocks[c->id].next.order, 0});
  std::vector<std::uint64_t> positions(mapped.size(), w.next.cursor);
  std::uint64_t end = w.next.cursor;
  for (bool again = !w.ranks.is_alone(); again;) {
    bool changed = false;
    auto attempt = [&]() -> Status {
      for (std::size_t i = 0; i < mapped.size(); ++i) {
        BlockCommit copy = *mapped[i];
        Trial trial(positions[i]);
        NMB_TRY(write_map(w, copy, trial));
        const std::uint64_t length = trial.next_position() - positions[i];
        changed = changed || length != parts[i].length;
        parts[i].length = length;
      }
      return {};
    };
    NMB_TRY(w.ranks.agree(attempt()));
    NMB_ASSIGN(again, w.ranks.any(changed));
    if (again) {
      end = w.next.cursor;
      NMB_ASSIGN(positions, take_ordered_space(w.ranks.communicator(), parts, &end));
    }
  }
  NMB_TRY(w.stripes.in_rounds(mapped.size(), [&](std::size_t i) {
    if (!w.ranks.is_alone()) w.next.cursor = positions[i];
    return write_map(w, *mapped[i], w.next);
  }));
  if (!w.ranks.is_alone()) w.next.cursor = end;
  return {};
}

}  // namespace nmb
