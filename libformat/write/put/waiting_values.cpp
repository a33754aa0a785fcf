#include "put/waiting_values.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "origins/placement.h"
#include "state/extents.h"
#include "state/file_space.h"
#include "state/ordered_space.h"
#include "state/shared_blocks.h"

namespace nmb {

namespace {

// A run of at least this many bytes is written by the rank that put it. Sending the run to another
// rank would take longer.
constexpr std::size_t kSmallRun = 64 << 10;

// A message to the primary of a block: which bytes of the sender need places.
struct WaitingPart {
  BlockId at_primary;
  BlockId at_sender;
  std::uint64_t records;
  std::vector<Interval> unplaced;
  // The bytes in `unplaced` whose values wait in the stage.
  std::vector<Interval> staged;
};

template <class Fields>
void fields(Fields& all, WaitingPart& part) {
  all(part.at_primary, part.at_sender, part.records, part.unplaced, part.staged);
}

// The primary's answer to a WaitingPart: the places of the bytes.
struct PlacedPart {
  BlockId id;
  std::uint64_t records;
  std::vector<ExtentState::Segment> places;
  // Bytes to which higher ranks have put values.
  std::vector<Interval> skipped;
  // Bytes of the places that replace committed pieces, and are all written by the end of the call.
  std::vector<Interval> replaced;
};

template <class Fields>
void fields(Fields& all, PlacedPart& part) {
  all(part.id, part.records, part.places, part.skipped, part.replaced);
}

bool waits(const BlockState& block) {
  const ExtentState* const extent = block.values.extent();
  return !block.is_removed() && extent && extent->needs_places();
}

// The steps of place_values(), in their order. Collective.
class WaitingValues {
 public:
  WaitingValues(WriterCore& writer, const Waiting& all) : w_(writer), all_(all) {}

  Status place(Status* own) {
    if (all_.any) NMB_TRY(place_all(own));
    w_.blocks.mark_placed();
    return {};
  }

 private:
  Status place_all(Status* own) {
    Status status;  // of this rank, until the ranks agree
    if (!w_.ranks.is_alone()) NMB_TRY(SharedBlocks(w_).match_values(!all_.claims_differ, &status));
    Inbox<WaitingPart> arrived;
    Outbox<WaitingPart> asked = ask_primaries();
    if (all_.may_share()) {
      NMB_ASSIGN(arrived, w_.ranks.exchange(asked));
    }
    if (status.ok()) status = plan(arrived);
    NMB_ASSIGN(const std::vector<std::uint64_t> positions, take_space(status));
    status = take_places(positions);
    Inbox<PlacedPart> places;
    if (all_.may_share()) {
      // Committed pieces must be copied to their new places before any rank writes to these places:
      // the exchange ends on no rank before it has begun on all.
      NMB_ASSIGN(places, w_.ranks.exchange(placed_));
    }
    return write(places, status, own);
  }

  // Bytes of one rank that need places, in a block whose primary is this rank.
  struct RankBytes {
    Sharing::Handle handle;
    std::vector<Interval> unplaced;
    std::vector<Interval> staged;
    IntervalSet skip;  // bytes to which higher ranks have put values
  };
  struct WaitingRun {
    ExtentState* extent;
    ExtentState::Staged run;
    bool among_others;
  };

  Outbox<WaitingPart> ask_primaries() {
    Outbox<WaitingPart> out;
    for (BlockId id : w_.blocks.touched) {
      const BlockState& block = w_.blocks[id];
      if (!waits(block)) continue;
      const ExtentState& extent = *block.values.extent();
      if (block.kept) {
        kept_[id].push_back({{w_.ranks.own(), id}, extent.unplaced(), extent.staged(), {}});
        continue;
      }
      const Sharing::Handle& primary = block.sharing->primary;
      out.add(primary.rank,
              {primary.id, id, block.next.records, extent.unplaced(), extent.staged()});
    }
    return out;
  }

  Status plan(Inbox<WaitingPart>& arrived) {
    for (auto& [rank, part] : arrived) {
      const BlockId id = part.at_primary;
      if (part.records > w_.blocks[id].next.records) NMB_TRY(grow(w_, id, part.records));
      w_.blocks.mark_dirty(id);
      kept_[id].push_back(
          {{rank, part.at_sender}, std::move(part.unplaced), std::move(part.staged), {}});
    }
    for (auto& [id, parts] : kept_) {
      std::ranges::sort(parts, {}, [](const RankBytes& part) { return part.handle.rank; });
      IntervalSet all, staged;
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        part->skip = staged;
        for (const Interval& interval : part->staged) staged.add(interval.begin, interval.end);
        for (const Interval& interval : part->unplaced) all.add(interval.begin, interval.end);
      }
      NMB_ASSIGN(std::vector<SpaceRequest> wanted, extent_of(w_, id)->plan_places(all.all()));
      requests_.emplace_back(id, std::move(wanted));
    }
    return {};
  }

  // Takes space for the blocks in the order of their creation, so that positions do not depend on
  // which ranks are the primaries.
  Result<std::vector<std::uint64_t>> take_space(const Status& status) {
    std::vector<OrderedRequest> ordered;
    for (const auto& [id, list] : requests_)
      for (const SpaceRequest& request : list)
        ordered.push_back({w_.blocks[id].next.order, request.length,
                           extent_alignment(request.length, w_.options.alignment), request.tail});
    return take_ordered_space(w_.ranks.communicator(), ordered, &w_.next.cursor, status);
  }

  Status take_places(std::span<const std::uint64_t> positions) {
    for (const auto& [id, list] : requests_) {
      const BlockState& block = w_.blocks[id];
      ExtentState& extent = *block.values.extent();
      NMB_TRY(extent.take_places(positions.first(list.size()), w_.buffer, w_.next));
      positions = positions.subspan(list.size());
      for (const RankBytes& part : kept_[id]) {
        if (part.handle.rank == w_.ranks.own()) continue;
        std::vector<ExtentState::Segment> places = extent.places_of(part.unplaced);
        std::vector<Interval> replaced = extent.replaced_in(places);
        placed_.add(part.handle.rank, {part.handle.id, block.next.records, std::move(places),
                                       part.skip.all(), std::move(replaced)});
      }
    }
    NMB_TRY(set_length(w_));
    return w_.buffer.flush();
  }

  void add_staged(ExtentState& extent, const IntervalSet& skip, bool among_others) {
    for (const ExtentState::Staged& run : extent.take_staged(skip))
      waiting_.push_back({&extent, run, among_others});
  }

  Status take_told(const Inbox<PlacedPart>& places) {
    for (const auto& [primary, part] : places) {
      BlockState& block = w_.blocks[part.id];
      ExtentState& extent = *block.values.extent();
      set_records(block, part.records);
      NMB_TRY(extent.resize(block.next.extent_length, w_.buffer, w_.next));
      NMB_TRY(extent.take_places(part.places));
      for (const Interval& interval : part.replaced)
        extent.readable().add(interval.begin, interval.end);
      IntervalSet skip;
      for (const Interval& interval : part.skipped) skip.add(interval.begin, interval.end);
      add_staged(extent, skip, true);
    }
    return {};
  }

  // Writes the waiting values. If several ranks have values in a block, their elements may
  // alternate, so each small run is sent to the rank that writes this range of the file.
  Status write(const Inbox<PlacedPart>& places, const Status& so_far, Status* own) {
    Status taken = so_far.ok() ? take_told(places) : so_far;
    for (const auto& [id, parts] : kept_)
      for (const RankBytes& part : parts)
        if (part.handle.rank == w_.ranks.own())
          add_staged(*w_.blocks[id].values.extent(), part.skip, parts.size() > 1);
    Status written;
    if (all_.may_share()) {
      written = w_.value_stripes.write_in_rounds(waiting_.size() + 1, [&](std::size_t i) {
        return i == 0 ? taken : write_run(waiting_[i - 1]);
      });
    } else {
      for (std::size_t i = 0; taken.ok() && i < waiting_.size(); ++i)
        taken = write_run(waiting_[i]);
      if (own->ok()) *own = std::move(taken);
    }
    w_.stage.clear();
    return written;
  }

  Status write_run(const WaitingRun& waiting) {
    const bool sent = waiting.among_others && waiting.run.length < kSmallRun;
    return waiting.extent->write_staged(
        waiting.run,
        [&](std::uint64_t position, std::span<const std::byte> bytes) {
          return sent ? w_.value_stripes.write_at(position, bytes)
                      : w_.buffer.write_at(position, bytes);
        },
        w_.stage);
  }

  WriterCore& w_;
  const Waiting all_;
  // For each block whose primary is this rank: the parts of all ranks, in the order of ranks.
  std::map<BlockId, std::vector<RankBytes>> kept_;
  std::vector<std::pair<BlockId, std::vector<SpaceRequest>>> requests_;
  Outbox<PlacedPart> placed_;
  std::vector<WaitingRun> waiting_;
};

}  // namespace

bool has_waiting_values(const WriterCore& w) {
  return std::ranges::any_of(w.blocks.touched, [&](BlockId id) { return waits(w.blocks[id]); });
}

Waiting waiting_of(WriterCore& w) {
  Waiting own{has_waiting_values(w)};
  if (w.ranks.is_alone()) return own;
  SharedBlocks(w).list_value_claims();
  own.claims_differ = w.values.differ();
  const auto is_shared = [&](BlockId id) { return w.blocks[id].sharing != nullptr; };
  own.shares = !w.values.shared.empty() || !w.written_for.empty() ||
               std::ranges::any_of(w.blocks.dirty, is_shared) ||
               std::ranges::any_of(w.blocks.touched, is_shared);
  return own;
}

Status place_values(WriterCore& w, const Waiting& all, Status* own) {
  return WaitingValues(w, all).place(own);
}

Status place_values(WriterCore& w) {
  NMB_ASSIGN(const Waiting all, w.ranks.combine(waiting_of(w), std::logical_or<>()));
  Status own;
  NMB_TRY(place_values(w, all, &own));
  return all.any ? w.ranks.agree(own) : Status();
}

Status place_values(WriterCore& w, bool any) {
  if (any && !w.ranks.is_alone()) SharedBlocks(w).list_value_claims();
  Status own;
  NMB_TRY(place_values(w, {any, any, any}, &own));
  return own;
}

}  // namespace nmb
