#include "state/shared_blocks.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/name_rules.h"
#include "state/bodies.h"
#include "state/extents.h"
#include "state/shared_definitions.h"
#include "state/shared_layout.h"
#include "state/stored_blocks.h"
#include "wire/bytes.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

// Records the ranks that share a block.
void SharedBlocks::take_match(BlockId id, NameMatch match) {
  BlockState& block = w_.blocks[id];
  block.sharing.reset();
  block.kept = true;
  if (match.handles.empty()) return;
  block.sharing = std::make_unique<Sharing>();
  block.sharing->primary = match.handles[0];
  block.kept = match.handles[0].rank == w_.ranks.own();
  match.handles.erase(match.handles.begin());
  block.sharing->others = std::move(match.handles);
}

// Returns the committed blocks that this rank has changed, removed or renamed since the last
// commit.
std::vector<BlockId> SharedBlocks::changed_blocks() const {
  std::vector<BlockId> changed;
  for (BlockId id = 0; id < w_.blocks.size(); ++id) {
    const BlockState& block = w_.blocks[id];
    if (block.committed && (block.is_removed() ? block.dirty : is_changed(block)))
      changed.push_back(id);
  }
  return changed;
}

// Lists all names that this rank adds, changes or uses since the last commit, also by an earlier
// end_define().
Result<std::vector<NameRecord>> SharedBlocks::all_claims() {
  std::vector<NameRecord> records;
  records.reserve(w_.blocks.size());
  for (BlockId id = 0; id < w_.blocks.size(); ++id) {
    const BlockState& block = w_.blocks[id];
    if (block.is_removed()) continue;
    // Another rank may have committed a block that this rank shared.
    if (block.is_laid_out() && block.known_at != w_.committed.superblock.generation &&
        (block.is_new() || is_changed(block))) {
      const Status known = check_id(w_, id);
      if (known.code() == Code::kNotFound || known.code() == Code::kUnsupported) continue;
      NMB_TRY(known);
    }
    if (block.committed && !block.dirty && !is_changed(block)) continue;
    const ExtentState* extent = block.old ? block.old->extent.get() : block.values.extent();
    const bool has_values = block.kept && extent && extent->has_fresh();
    NameRecord record{w_.blocks.name(id), id, Claim::kDefine};
    if (block.is_new() && block.is_laid_out()) {
      record.claim = block.pending ? Claim::kRedefine : Claim::kHave;
      record.stays_primary = block.kept;
    } else if (block.is_new()) {
      record.claim = block.packed() ? Claim::kDefineAlone : Claim::kDefine;
    } else if (block.is_renamed()) {
      record.claim = Claim::kDefineAlone;
    } else if (is_changed(block)) {
      record.claim = block.pending ? Claim::kChange : Claim::kHaveChanged;
      record.stays_primary = has_values || (!block.pending && block.kept);
    } else {
      record.claim = has_values ? Claim::kKeep : Claim::kPut;
    }
    records.push_back(record);
  }
  for (const BlockId id : w_.knowing)
    if (!w_.blocks[id].dirty && !is_changed(w_.blocks[id]) && !w_.blocks[id].is_removed())
      records.push_back({w_.blocks.name(id), id, Claim::kKnow});
  return records;
}

Result<MatchSummary> SharedBlocks::match_definitions(const MatchSummary& own, Status* status) {
  constexpr BlockId kNoBlock = ~BlockId{0};
  Result<std::vector<NameRecord>> claims = all_claims();
  *status = claims.status();
  std::vector<NameRecord> records;
  if (claims.ok()) records = *std::move(claims);
  for (const std::string& name : w_.blocks.removed_names)
    records.push_back({name, kNoBlock, Claim::kRemove});
  std::ranges::sort(records, {}, &NameRecord::name);
  w_.names.owned.clear();
  NMB_ASSIGN(std::vector<NameMatch> matches,
             match_names(w_.ranks.communicator(), records, &w_.names.slices, &w_.names.owned));
  std::string changed;
  for (const BlockId id : changed_blocks()) {
    const auto order = std::as_bytes(std::span(&w_.blocks[id].committed->order, 1));
    changed.append(reinterpret_cast<const char*>(order.data()), order.size());
  }
  const auto moves_names = [](const NameRecord& record) {
    return record.claim != Claim::kChange && record.claim != Claim::kHaveChanged &&
           record.claim != Claim::kPut && record.claim != Claim::kKeep &&
           record.claim != Claim::kKnow;
  };
  MatchSummary mine = own;
  mine.names_move = std::ranges::any_of(records, moves_names);
  mine.changed = !changed.empty();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].id == kNoBlock) continue;
    w_.blocks[records[i].id].names_ahead = matches[i].change;
    mine.shared = mine.shared || (w_.blocks[records[i].id].pending && !matches[i].handles.empty());
    take_match(records[i].id, std::move(matches[i]));
  }
  NMB_ASSIGN(const MatchSummary all, w_.ranks.combine(mine, [](MatchSummary a, MatchSummary b) {
    return MatchSummary{a.originals || b.originals, a.redefined || b.redefined,
                        a.shared || b.shared, a.names_move || b.names_move, a.changed || b.changed};
  }));
  w_.names.changed.clear();
  if (all.changed) {
    NMB_ASSIGN(changed, w_.ranks.combine(std::move(changed), std::plus<>()));
    w_.names.changed.resize(changed.size() / sizeof(std::uint64_t));
    std::memcpy(w_.names.changed.data(), changed.data(), changed.size());
    std::ranges::sort(w_.names.changed);
  }
  w_.names.move = all.names_move;
  return all;
}

namespace {

// --- messages between ranks about a block ---

// A message to the primary: the digest of a rank's definitions, and the tags that the rank has set.
struct DefinitionsDigest {
  BlockId at_primary;
  BlockId at_sender;
  Digest digest;
  std::uint64_t records, samples;
  std::vector<Tag> tags;
};

template <class Fields>
void fields(Fields& all, DefinitionsDigest& message) {
  all(message.at_primary, message.at_sender, message.digest, message.tags);
  all.small(message.records, message.samples);
}

// The primary's request for the whole body of another rank's definitions.
struct BodyRequest {
  BlockId id;
};

// The answer to BodyRequest.
struct DefinitionsMessage {
  BlockId at_primary;
  BlockId at_sender;
  std::span<const std::byte> body;
};

template <class Fields>
void fields(Fields& all, DefinitionsMessage& body) {
  all(body.at_primary, body.at_sender, body.body);
}

// A message from the primary: the place of the block. If the receiver's definitions differ from the
// united block, the message also contains the offsets at which the receiver's variables begin.
struct PlaceMessage {
  BlockId id;
  SharedLayout laid;
  bool partial;
  std::vector<std::uint64_t> begins;
};

template <class Fields>
void fields(Fields& all, PlaceMessage& place) {
  all(place.id, place.laid, place.partial, place.begins);
}

// A message to the primary: which bytes of the block's values a rank has written.
struct WrittenMessage {
  BlockId at_primary;
  Written written;
};

template <class Fields>
void fields(Fields& all, WrittenMessage& values) {
  all(values.at_primary, values.written);
}

Result<Digest> digest_of_body(const BlockState& block) {
  DigestStream stream;
  NMB_TRY(Bodies::for_body(block, [&](std::span<const std::byte> part) -> Status {
    stream.add(part);
    return {};
  }));
  return stream.digest();
}

}  // namespace

// Sends digests first, and then only the definitions that differ. The primary's own definitions
// come first in the union, so that the primary's IDs are equal to the IDs in the file.
Status SharedBlocks::unite(const std::vector<BlockId>& ids) {
  Outbox<DefinitionsDigest> own;
  const auto send_digests = [&]() -> Status {
    for (BlockId id : ids) {
      const BlockState& block = w_.blocks[id];
      if (block.kept) continue;
      NMB_ASSIGN(const Digest digest, digest_of_body(block));
      const Sharing::Handle& primary = block.sharing->primary;
      const std::vector<NewTag>& tags = w_.tags.of(id);
      own.add(primary.rank, {primary.id,
                             id,
                             digest,
                             block.next.records,
                             block.next.samples,
                             {tags.begin(), tags.end()}});
      w_.tags.forget(id);
    }
    return {};
  };
  NMB_TRY(w_.ranks.agree(w_.keep(send_digests())));
  NMB_ASSIGN(const Inbox<DefinitionsDigest> digests, w_.ranks.exchange(own));

  // Blocks whose definitions or number of records have changed.
  std::vector<BlockId> changed;
  Outbox<BodyRequest> wanted;
  const auto compare = [&]() -> Status {
    std::map<BlockId, Digest> kept;
    for (const auto& [rank, other] : digests) {
      BlockState& block = w_.blocks[other.at_primary];
      auto [digest, first] = kept.try_emplace(other.at_primary);
      if (first) {
        NMB_ASSIGN(digest->second, digest_of_body(block));
      }
      const bool differs = other.digest != digest->second;
      if (differs) wanted.add(rank, {other.at_sender});
      if (differs || other.records > block.next.records) changed.push_back(other.at_primary);
      block.next.records = std::max(block.next.records, other.records);
      block.next.samples = std::max(block.next.samples, other.samples);
      NMB_TRY(w_.tags.unite(other.at_primary, w_.blocks.name(other.at_primary), rank, other.tags));
    }
    return {};
  };
  NMB_TRY(w_.ranks.agree(w_.keep(compare())));
  NMB_ASSIGN(const Inbox<BodyRequest> requests, w_.ranks.exchange(wanted));

  Outbox<DefinitionsMessage> sent;
  const auto send_bodies = [&]() -> Status {
    for (const auto& [primary, request] : requests) {
      const BlockState& block = w_.blocks[request.id];
      NMB_ASSIGN(const std::vector<std::byte> body, Bodies::body_of(block));
      sent.add(primary, {block.sharing->primary.id, request.id, body});
    }
    return {};
  };
  NMB_TRY(w_.ranks.agree(w_.keep(send_bodies())));
  NMB_ASSIGN(const Inbox<DefinitionsMessage> bodies, w_.ranks.exchange(sent));

  const auto unite = [&]() -> Status {
    std::map<BlockId, SharedDefinitions> unions;
    for (const auto& [rank, other] : bodies) {
      BlockState& block = w_.blocks[other.at_primary];
      auto [united, first] = unions.try_emplace(other.at_primary, w_.blocks.name(other.at_primary));
      if (first) NMB_TRY(united->second.add(w_.ranks.own(), *block.metadata).status());
      const MemorySource body(other.body, w_.file->name());
      NMB_ASSIGN(const ClassicHeader header, decode_classic_header(body, {.values_follow = false}));
      NMB_ASSIGN(SharedDefinitions::Ids places, united->second.add(rank, header.metadata));
      if (block.old)
        return Status(Code::kConflict, {}, kNoOffset, {},
                      joined_text("block ", in_quotes(w_.blocks.name(other.at_primary)), ": rank ",
                                  rank, " has changed it otherwise than rank ", w_.ranks.own(),
                                  "; ranks that change a block must give it the same objects in "
                                  "the same order"),
                      rank);
      block.sharing->places.emplace_back(Sharing::Handle{rank, other.at_sender},
                                         std::move(places.variables));
    }
    for (auto& [id, united] : unions)
      w_.blocks[id].metadata = std::make_shared<Metadata>(std::move(united).take());
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (BlockId id : changed) NMB_TRY(Bodies(w_).lay_out_definitions(id));
    return {};
  };
  return w_.ranks.agree(unite().in_file(w_.file->name()));
}

void SharedBlocks::list_value_claims() {
  std::vector<NameRecord>& records = w_.values.claims;
  records.clear();
  for (const BlockId id : w_.blocks.dirty) {
    const BlockState& block = w_.blocks[id];
    if (!block.committed) continue;
    if (block.is_removed() || block.is_renamed()) {
      records.push_back({block.committed->name, id, Claim::kRemove});
    } else if (!block.body_stays()) {
      // end_define() has chosen the primary of a block that several ranks have changed.
      if (!block.sharing) records.push_back({w_.blocks.name(id), id, Claim::kChange});
    } else if (const ExtentState* const extent = block.values.extent()) {
      const bool keeps = block.kept && extent->has_fresh();
      records.push_back({w_.blocks.name(id), id, keeps ? Claim::kKeep : Claim::kPut});
    }
  }
  for (const BlockId id : w_.knowing)
    if (!w_.blocks[id].dirty && !is_changed(w_.blocks[id]) && !w_.blocks[id].is_removed())
      records.push_back({w_.blocks.name(id), id, Claim::kKnow});
  std::ranges::sort(records, {}, &NameRecord::name);
  DigestStream digest;
  for (const NameRecord& record : records) {
    const std::uint64_t numbers[] = {record.name.size(), record.id,
                                     static_cast<std::uint64_t>(record.claim)};
    digest.add(std::as_bytes(std::span(numbers)));
    digest.add(std::as_bytes(std::span(record.name)));
  }
  w_.values.digest = digest.digest();
}

Status SharedBlocks::match_values(bool as_before, Status* status) {
  MatchedValues& values = w_.values;
  if (!as_before) {
    values.matched.reset();
    values.shared.clear();
    NMB_ASSIGN(std::vector<NameMatch> matches,
               match_sharers(w_.ranks.communicator(), values.claims, status));
    for (std::size_t i = 0; i < matches.size(); ++i)
      if (!matches[i].handles.empty()) values.shared.emplace_back(i, std::move(matches[i]));
    if (status->ok()) values.matched = values.digest;
  }
  auto shared = values.shared.begin();
  for (std::size_t i = 0; i < values.claims.size(); ++i) {
    const bool is_shared = shared != values.shared.end() && shared->first == i;
    NameMatch match = is_shared ? (shared++)->second : NameMatch();
    const BlockId id = values.claims[i].id;
    if (!w_.blocks[id].is_removed()) take_match(id, std::move(match));
  }
  return {};
}

// Sends to each rank the places of its shared blocks, and the offsets at which its own variables
// begin in these blocks.
Status SharedBlocks::send_places(const std::vector<BlockId>& ids) {
  Outbox<PlaceMessage> sent;
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    if (!block.kept || !block.sharing) continue;
    auto places = block.sharing->places.begin();
    const SharedLayout laid = SharedLayout::of(block);  // all ranks receive the same bytes
    for (const Sharing::Handle& other : block.sharing->others) {
      PlaceMessage place{other.id, laid, false, {}};
      if (places != block.sharing->places.end() && places->first.rank == other.rank) {
        place.partial = true;
        for (VarId variable : places->second)
          place.begins.push_back(block.metadata->begin(variable));
        ++places;
      }
      sent.add(other.rank, place);
    }
    block.sharing->places = {};
  }
  NMB_ASSIGN(const Inbox<PlaceMessage> arrived, w_.ranks.exchange(sent));
  for (const auto& [primary, place] : arrived) {
    BlockState& block = w_.blocks[place.id];
    place.laid.put_into(block);
    block.partial = place.partial;
    for (VarId v = 0; v < place.begins.size(); ++v) block.metadata->set_begin(v, place.begins[v]);
  }
  return {};
}

// Sends each primary a list of the values of its blocks that this rank has written. The primary
// needs the list to finish the extents.
Status SharedBlocks::collect_values(Status* status) {
  if (w_.ranks.is_alone()) return {};
  Outbox<WrittenMessage> sent;
  for (BlockId id : w_.blocks.dirty) {
    BlockState& block = w_.blocks[id];
    ExtentState* const extent = block.values.extent();
    if (block.kept) continue;
    block.dirty = false;
    if (!extent) continue;
    sent.add(block.sharing->primary.rank, {block.sharing->primary.id, extent->written()});
    block.values = ExtentOrigin();
  }
  std::erase_if(w_.blocks.dirty, [&](BlockId id) { return !w_.blocks[id].kept; });
  for (const auto& [primary, written] : std::exchange(w_.written_for, {}))
    sent.add(primary.first, {primary.second, written});
  NMB_ASSIGN(Inbox<WrittenMessage> arrived, w_.ranks.exchange(sent));
  const auto take = [&]() -> Status {
    for (auto& [rank, values] : arrived) {
      extent_of(w_, values.at_primary)->written().unite(std::move(values.written));
      w_.blocks.mark_dirty(values.at_primary);
    }
    return {};
  };
  const Status taken = w_.keep(take());
  if (status->ok()) *status = taken;
  return {};
}

}  // namespace nmb
