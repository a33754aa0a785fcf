// Places for values that wait for space: growth, and new places of committed pieces that change
// (spec/rationale.md, "Values that wait for space").
#include <algorithm>
#include <map>

#include "parallel/letters.h"
#include "wire/checked.h"
#include "writer/ordered_space.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// Values of a longer run are written by the rank that has them: to send them takes longer.
constexpr std::size_t kSmallRun = 64 << 10;

}  // namespace

// Blocks of the file have no keeper until values are put to them: the rank that has put some in
// this generation already, else the lowest that does.
Status Writer::Impl::match_values() {
  std::vector<NameRecord> records;
  for (BlockId id : dirty_) {
    const BlockState& block = state(id);
    if (!block.committed) continue;
    if (block.removed || block.renamed) {
      records.push_back({block.committed->name, id, Claim::kRemove});
    } else if (block.body_from != BodyFrom::kCommitted) {
      records.push_back({names_.at(id), id, Claim::kChange});
    } else if (const ExtentState* const extent = block.values.extent()) {
      const bool keeps = block.kept && extent->has_fresh();
      records.push_back({names_.at(id), id, keeps ? Claim::kKeep : Claim::kPut});
    }
  }
  std::sort(records.begin(), records.end(),
            [](const NameRecord& a, const NameRecord& b) { return a.name < b.name; });
  NMB_ASSIGN(std::vector<NameMatch> matches, match_names(ranks_, records));
  for (std::size_t i = 0; i < records.size(); ++i)
    if (!state(records[i].id).removed) take_match(records[i].id, std::move(matches[i]));
  return {};
}

// Space in the order in which blocks were created, whoever keeps them.
Result<std::vector<std::uint64_t>> Writer::Impl::ask_for_space(
    const std::vector<std::pair<BlockId, std::vector<SpaceRequest>>>& requests) {
  std::vector<OrderedRequest> ordered;
  for (const auto& [id, list] : requests)
    for (const SpaceRequest& request : list)
      ordered.push_back({state(id).order, request.length,
                         extent_alignment(request.length, options_.alignment), request.tail});
  return take_ordered_space(ranks_, ordered, &cursor_);
}

Status Writer::Impl::place_values() {
  auto waits = [&](BlockId id) {
    const BlockState& block = state(id);
    const ExtentState* const extent = block.values.extent();
    return !block.removed && extent && extent->needs_places();
  };
  NMB_ASSIGN(const bool any, ranks_.all_reduce(std::any_of(dirty_.begin(), dirty_.end(), waits),
                                               std::logical_or<>()));
  if (!any) return {};
  if (ranks_.size() > 1) NMB_TRY(match_values());

  // Keepers learn what others have that waits.
  struct Part {
    Sharing::Handle handle;
    std::vector<Interval> intervals;  // that need places
    std::vector<Interval> staged;     // of these, values that wait
    IntervalSet skip;                 // higher ranks put values there
  };
  Letters letters;
  std::map<BlockId, std::vector<Part>> blocks;  // that this rank keeps; by rank
  for (BlockId id : dirty_) {
    if (!waits(id)) continue;
    BlockState& block = state(id);
    std::vector<Interval> intervals = block.values.extent()->unplaced();
    std::vector<Interval> staged = block.values.extent()->staged();
    if (block.kept) {
      blocks[id].push_back({{ranks_.rank(), id}, std::move(intervals), std::move(staged), {}});
      continue;
    }
    MessageWriter& out = letters.to(block.sharing->keeper.rank);
    out.put(block.sharing->keeper.id);
    out.put(id);
    out.put(block.records);
    out.put_bytes(std::as_bytes(std::span(intervals)));
    out.put_bytes(std::as_bytes(std::span(staged)));
  }
  NMB_ASSIGN(const std::vector<Message> told, ranks_.exchange(letters.take()));
  std::vector<std::pair<BlockId, std::vector<SpaceRequest>>> requests;
  auto plan = [&]() -> Status {
    for (const Message& message : told) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        Part& part = blocks[id].emplace_back();
        part.handle = {message.from(), in.get<BlockId>()};
        const auto records = in.get<std::uint64_t>();
        for (MessageReader each(in.get_bytes()); !each.at_end();)
          part.intervals.push_back(each.get<Interval>());
        for (MessageReader each(in.get_bytes()); !each.at_end();)
          part.staged.push_back(each.get<Interval>());
        if (records > state(id).records) NMB_TRY(grow(id, records));
        if (!state(id).dirty) dirty_.push_back(id);
        state(id).dirty = true;
      }
    }
    for (auto& [id, parts] : blocks) {
      std::sort(parts.begin(), parts.end(),
                [](const Part& a, const Part& b) { return a.handle.rank < b.handle.rank; });
      IntervalSet all, staged;
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        part->skip = staged;
        for (const Interval& interval : part->staged) staged.add(interval.begin, interval.end);
        for (const Interval& interval : part->intervals) all.add(interval.begin, interval.end);
      }
      NMB_ASSIGN(std::vector<SpaceRequest> wanted, extent_of(id)->plan_places(all.all()));
      requests.emplace_back(id, std::move(wanted));
    }
    return {};
  };
  NMB_TRY(ranks_.agree(plan()));
  NMB_ASSIGN(const std::vector<std::uint64_t> positions, ask_for_space(requests));

  auto take = [&]() -> Status {
    auto rest = std::span(positions);
    for (const auto& [id, list] : requests) {
      NMB_TRY(state(id).values.extent()->take_places(rest.first(list.size()), buffer_, *this));
      rest = rest.subspan(list.size());
      for (const Part& part : blocks[id]) {
        if (part.handle.rank == ranks_.rank()) continue;
        MessageWriter& out = letters.to(part.handle.rank);
        out.put(part.handle.id);
        out.put(state(id).records);
        state(id).values.extent()->put_places(part.intervals, out);
        const std::vector<Interval> skip = part.skip.all();
        out.put_bytes(std::as_bytes(std::span(skip)));
      }
    }
    NMB_TRY(set_length());
    return buffer_.flush();
  };
  // Pieces are copied before anybody writes into them.
  NMB_TRY(ranks_.agree(take()));
  NMB_ASSIGN(const std::vector<Message> places, ranks_.exchange(letters.take()));
  struct Waiting {
    ExtentState* extent;
    ExtentState::Staged run;
    bool among_others;
  };
  std::vector<Waiting> waiting;
  auto add = [&](ExtentState& extent, const IntervalSet& skip, bool among_others) {
    for (const ExtentState::Staged& run : extent.take_staged(skip))
      waiting.push_back({&extent, run, among_others});
  };
  const auto take_told = [&]() -> Status {
    for (const Message& message : places) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        BlockState& block = state(in.get<BlockId>());
        set_records(block, in.get<std::uint64_t>());
        NMB_TRY(block.values.extent()->resize(block.extent_length, buffer_, *this));
        NMB_TRY(block.values.extent()->take_places(in));
        IntervalSet skip;
        for (MessageReader each(in.get_bytes()); !each.at_end();) {
          const auto interval = each.get<Interval>();
          skip.add(interval.begin, interval.end);
        }
        add(*block.values.extent(), skip, true);
      }
    }
    return {};
  };
  const Status taken = take_told();
  for (const auto& [id, parts] : blocks)
    for (const Part& part : parts)
      if (part.handle.rank == ranks_.rank())
        add(*state(id).values.extent(), part.skip, parts.size() > 1);
  // Of several ranks each may have put every other element: what is small goes to who writes that
  // part of the file.
  const Status written = value_stripes_.in_rounds(waiting.size() + 1, [&](std::size_t i) {
    if (i == 0) return taken;
    const auto& [extent, run, among_others] = waiting[i - 1];
    const bool sent = among_others && run.length < kSmallRun;
    return extent->write_staged(
        run,
        [&](std::uint64_t position, std::span<const std::byte> bytes) {
          return sent ? value_stripes_.write_at(position, bytes)
                      : buffer_.write_at(position, bytes);
        },
        stage_);
  });
  stage_.clear();
  NMB_TRY(written);
  return value_stripes_.pass_on();
}

}  // namespace nmb
