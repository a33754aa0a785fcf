// Commits: writes data maps (spec/format.md, section 10.1).
#include <algorithm>
#include <memory>

#include "state/commit_steps.h"
#include "state/ordered_space.h"

namespace nmb {

namespace {

Result<Place> write_map(WriterCore& w, const BlockCommit& c, PageSink& sink) {
  const BlockState& block = w.blocks[c.id];
  const std::uint32_t map_rows = w.committed.superblock.map_rows;
  if (!c.edge.empty())
    return append_to_data_map(c.pieces, c.edge, map_rows, sink, w.new_origin(),
                              block.next.position);
  std::unique_ptr<DataMap> old;
  if (block.committed && block.committed->has_map() && !c.rewritten) {
    old = std::make_unique<DataMap>(w.committed.reader->map_of(*block.committed));
    if (c.pieces.empty()) {
      if (!c.map.absent()) return c.map;
      NMB_TRY(retire_data_map(*old, sink));
    }
  }
  if (c.pieces.empty()) return c.map;
  return write_data_map(c.pieces, old.get(), map_rows, sink, w.new_origin(), block.next.position);
}

// Makes the data map of a block that is written again. Each page of a data map names the position
// of its block's header, so a new header needs new pages. They lie directly after the block if they
// have room there; otherwise *has_room becomes false.
Status make_own_map(WriterCore& w, BlockCommit& c, bool* has_room) {
  const BlockState& block = w.blocks[c.id];
  if (block.committed && block.committed->has_map())
    NMB_TRY(retire_data_map(w.committed.reader->map_of(*block.committed), w.next));
  *has_room = true;
  if (c.pieces.empty()) return {};
  PagesInMemory pages(block_end(w, c.id) - block.map_space);
  if (block.map_space > 0) {
    NMB_ASSIGN(const Place place, write_map(w, c, pages));
    if (pages.bytes.size() <= block.map_space) {
      c.map = place;
      c.map_pages = std::move(pages.bytes);
      return {};
    }
  }
  *has_room = false;
  return {};
}

// Computes the length of pages without writing them.
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

}  // namespace

// The length of a page depends slightly on its position, so the ranks compute lengths and positions
// repeatedly until no length changes.
Status write_maps_in_order(WriterCore& w, std::span<const MapToWrite> maps, const Status& so_far) {
  if (w.ranks.is_alone()) NMB_TRY(so_far);
  std::vector<OrderedRequest> parts;
  for (const MapToWrite& map : maps) parts.push_back({map.order, 0});
  std::vector<std::uint64_t> positions(maps.size(), w.next.cursor);
  std::uint64_t end = w.next.cursor;
  for (bool again = !w.ranks.is_alone(); again;) {
    bool changed = false;
    auto attempt = [&]() -> Status {
      NMB_TRY(so_far);
      for (std::size_t i = 0; i < maps.size(); ++i) {
        Trial trial(positions[i]);
        NMB_TRY(maps[i].write(trial).status());
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
  NMB_TRY(w.stripes.in_rounds(maps.size(), [&](std::size_t i) -> Status {
    if (!w.ranks.is_alone()) w.next.cursor = positions[i];
    NMB_ASSIGN(*maps[i].place, maps[i].write(w.next));
    return {};
  }));
  if (!w.ranks.is_alone()) w.next.cursor = end;
  return {};
}

Status write_maps(WriterCore& w, std::vector<BlockCommit>& blocks) {
  std::vector<MapToWrite> maps;
  const auto choose = [&]() -> Status {
    for (BlockCommit& c : blocks) {
      const BlockState& block = w.blocks[c.id];
      const bool has_old = block.committed && block.committed->has_map();
      bool has_room = false;
      if (c.grown || (c.pieces.empty() && !has_old)) continue;
      if (c.rewritten) NMB_TRY(make_own_map(w, c, &has_room));
      if (has_room) continue;
      maps.push_back(
          {block.next.order, [&w, &c](PageSink& sink) { return write_map(w, c, sink); }, &c.map});
    }
    return {};
  };
  const Status chosen = choose();
  std::ranges::sort(maps, {}, &MapToWrite::order);
  return write_maps_in_order(w, maps, chosen);
}

}  // namespace nmb
