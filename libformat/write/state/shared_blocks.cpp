#include "state/shared_blocks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "state/bodies.h"
#include "state/extents.h"
#include "state/laid_block.h"
#include "state/shared_definitions.h"
#include "wire/bytes.h"
#include "wire/hash.h"

namespace nmb {

// Records the ranks that share a block.
void SharedBlocks::take_match(BlockId id, NameMatch match) {
  BlockState& block = w_.blocks[id];
  block.sharing.reset();
  block.kept = true;
  if (match.handles.empty()) return;
  block.sharing = std::make_unique<Sharing>();
  block.sharing->keeper = match.handles[0];
  block.kept = match.handles[0].rank == w_.ranks.own();
  match.handles.erase(match.handles.begin());
  block.sharing->others = std::move(match.handles);
}

Status SharedBlocks::match_definitions(const std::vector<BlockId>& ids, bool* any_shared,
                                       bool* any_originals) {
  constexpr BlockId kNoBlock = ~BlockId{0};
  std::vector<NameRecord> records;
  records.reserve(ids.size());
  for (BlockId id : ids) {
    const BlockState& block = w_.blocks[id];
    const Claim claim = block.is_new()
                            ? (block.packed() ? Claim::kDefineAlone : Claim::kDefine)
                            : (block.is_renamed() ? Claim::kDefineAlone : Claim::kChange);
    records.push_back({w_.blocks.name(id), id, claim});
  }
  for (const std::string& name : w_.blocks.removed_names)
    records.push_back({name, kNoBlock, Claim::kRemove});
  std::ranges::sort(records, {}, &NameRecord::name);
  w_.names.owned.clear();
  NMB_ASSIGN(std::vector<NameMatch> matches,
             match_names(w_.ranks.communicator(), records, &w_.names.slices, &w_.names.owned));
  struct Found {
    bool shared, names_move, originals;
  };
  Found mine{false,
             std::ranges::any_of(
                 records, [](const NameRecord& record) { return record.claim != Claim::kChange; }),
             *any_originals};
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].id == kNoBlock) continue;
    w_.blocks[records[i].id].names_ahead = matches[i].change;
    mine.shared = mine.shared || !matches[i].handles.empty();
    take_match(records[i].id, std::move(matches[i]));
  }
  NMB_ASSIGN(const Found all, w_.ranks.combine(mine, [](Found a, Found b) {
    return Found{a.shared || b.shared, a.names_move || b.names_move, a.originals || b.originals};
  }));
  *any_shared = all.shared;
  *any_originals = all.originals;
  w_.names.move = all.names_move;
  return {};
}

namespace {

// --- messages between ranks about a block ---

// A message to the keeper: the digest of a rank's definitions, and the tags that the rank has set.
struct BlockDigest {
  BlockId at_keeper;
  BlockId at_sender;
  Digest digest;
  std::uint64_t records, samples;
  std::vector<Tag> tags;
};

template <class Fields>
void fields(Fields& all, BlockDigest& told) {
  all(told.at_keeper, told.at_sender, told.digest, told.tags);
  all.small(told.records, told.samples);
}

// The keeper's request for the whole body of another rank's definitions.
struct BodyWanted {
  BlockId id;
};

// The answer to BodyWanted.
struct BlockBody {
  BlockId at_keeper;
  BlockId at_sender;
  std::span<const std::byte> body;
};

template <class Fields>
void fields(Fields& all, BlockBody& body) {
  all(body.at_keeper, body.at_sender, body.body);
}

// A message from the keeper: the place of the block. If the receiver's definitions differ from the
// united block, the message also contains the offsets at which the receiver's variables begin.
struct BlockPlace {
  BlockId id;
  LaidBlock laid;
  bool partial;
  std::vector<std::uint64_t> begins;
};

template <class Fields>
void fields(Fields& all, BlockPlace& place) {
  all(place.id, place.laid, place.partial, place.begins);
}

// A message to the keeper: which bytes of the block's values a rank has written.
struct BlockValues {
  BlockId at_keeper;
  Written written;
};

template <class Fields>
void fields(Fields& all, BlockValues& values) {
  all(values.at_keeper, values.written);
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

// Sends digests first, and then only the definitions that differ. The keeper's own definitions come
// first in the union, so that the keeper's IDs are equal to the IDs in the file.
Status SharedBlocks::unite(const std::vector<BlockId>& ids) {
  Outbox<BlockDigest> own;
  const auto tell_digests = [&]() -> Status {
    for (BlockId id : ids) {
      const BlockState& block = w_.blocks[id];
      if (block.kept) continue;
      NMB_ASSIGN(const Digest digest, digest_of_body(block));
      const Sharing::Handle& keeper = block.sharing->keeper;
      const std::vector<NewTag>& tags = w_.tags.of(id);
      own.add(keeper.rank, {keeper.id,
                            id,
                            digest,
                            block.next.records,
                            block.next.samples,
                            {tags.begin(), tags.end()}});
      w_.tags.forget(id);
    }
    return {};
  };
  NMB_TRY(w_.ranks.agree(w_.keep(tell_digests())));
  NMB_ASSIGN(const Inbox<BlockDigest> digests, w_.ranks.exchange(own));

  // Blocks whose definitions or number of records have changed.
  std::vector<BlockId> changed;
  Outbox<BodyWanted> wanted;
  const auto compare = [&]() -> Status {
    std::map<BlockId, Digest> kept;
    for (const auto& [rank, other] : digests) {
      BlockState& block = w_.blocks[other.at_keeper];
      auto [digest, first] = kept.try_emplace(other.at_keeper);
      if (first) {
        NMB_ASSIGN(digest->second, digest_of_body(block));
      }
      const bool differs = other.digest != digest->second;
      if (differs) wanted.add(rank, {other.at_sender});
      if (differs || other.records > block.next.records) changed.push_back(other.at_keeper);
      block.next.records = std::max(block.next.records, other.records);
      block.next.samples = std::max(block.next.samples, other.samples);
      NMB_TRY(w_.tags.unite(other.at_keeper, w_.blocks.name(other.at_keeper), rank, other.tags));
    }
    return {};
  };
  NMB_TRY(w_.ranks.agree(w_.keep(compare())));
  NMB_ASSIGN(const Inbox<BodyWanted> requests, w_.ranks.exchange(wanted));

  Outbox<BlockBody> sent;
  const auto send_bodies = [&]() -> Status {
    for (const auto& [keeper, request] : requests) {
      const BlockState& block = w_.blocks[request.id];
      NMB_ASSIGN(const std::vector<std::byte> body, Bodies::body_of(block));
      sent.add(keeper, {block.sharing->keeper.id, request.id, body});
    }
    return {};
  };
  NMB_TRY(w_.ranks.agree(w_.keep(send_bodies())));
  NMB_ASSIGN(const Inbox<BlockBody> bodies, w_.ranks.exchange(sent));

  const auto unite = [&]() -> Status {
    std::map<BlockId, SharedDefinitions> unions;
    for (const auto& [rank, other] : bodies) {
      BlockState& block = w_.blocks[other.at_keeper];
      auto [united, first] = unions.try_emplace(other.at_keeper, w_.blocks.name(other.at_keeper));
      if (first) NMB_TRY(united->second.add(w_.ranks.own(), *block.metadata).status());
      const MemorySource body(other.body, w_.file->name());
      NMB_ASSIGN(const ClassicHeader header, decode_classic_header(body, {.values_follow = false}));
      NMB_ASSIGN(SharedDefinitions::Ids places, united->second.add(rank, header.metadata));
      block.sharing->places.emplace_back(Sharing::Handle{rank, other.at_sender},
                                         std::move(places.variables));
    }
    for (auto& [id, united] : unions)
      w_.blocks[id].metadata = std::make_unique<Metadata>(std::move(united).take());
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (BlockId id : changed) NMB_TRY(Bodies(w_).lay_out_definitions(id));
    return {};
  };
  return w_.ranks.agree(unite().in_file(w_.file->name()));
}

// Sends to each rank the places of its shared blocks, and the offsets at which its own variables
// begin in these blocks.
Status SharedBlocks::tell_sharers(const std::vector<BlockId>& ids) {
  Outbox<BlockPlace> told;
  for (BlockId id : ids) {
    BlockState& block = w_.blocks[id];
    if (!block.kept || !block.sharing) continue;
    auto places = block.sharing->places.begin();
    const LaidBlock laid = LaidBlock::of(block);  // all ranks receive the same bytes
    for (const Sharing::Handle& other : block.sharing->others) {
      BlockPlace place{other.id, laid, false, {}};
      if (places != block.sharing->places.end() && places->first.rank == other.rank) {
        place.partial = true;
        for (VarId variable : places->second)
          place.begins.push_back(block.metadata->begin(variable));
        ++places;
      }
      told.add(other.rank, place);
    }
    block.sharing->places = {};
  }
  NMB_ASSIGN(const Inbox<BlockPlace> arrived, w_.ranks.exchange(told));
  for (const auto& [keeper, place] : arrived) {
    BlockState& block = w_.blocks[place.id];
    place.laid.put_into(block);
    block.partial = place.partial;
    for (VarId v = 0; v < place.begins.size(); ++v) block.metadata->set_begin(v, place.begins[v]);
  }
  return {};
}

// Tells each keeper which values of its blocks this rank has written. The keepers need this to
// finish the extents.
Status SharedBlocks::collect_values() {
  if (w_.ranks.is_alone()) return {};
  Outbox<BlockValues> told;
  for (BlockId id : w_.blocks.dirty) {
    BlockState& block = w_.blocks[id];
    ExtentState* const extent = block.values.extent();
    if (block.kept || block.is_removed() || !extent) continue;
    told.add(block.sharing->keeper.rank, {block.sharing->keeper.id, extent->written()});
    block.values = ExtentOrigin();
    block.dirty = false;
  }
  std::erase_if(w_.blocks.dirty, [&](BlockId id) { return !w_.blocks[id].kept; });
  for (const auto& [keeper, written] : std::exchange(w_.written_for, {}))
    told.add(keeper.first, {keeper.second, written});
  NMB_ASSIGN(Inbox<BlockValues> arrived, w_.ranks.exchange(told));
  const auto take = [&]() -> Status {
    for (auto& [rank, values] : arrived) {
      extent_of(w_, values.at_keeper)->written().unite(std::move(values.written));
      w_.blocks.mark_dirty(values.at_keeper);
    }
    return {};
  };
  return w_.ranks.agree(w_.keep(take()));
}

}  // namespace nmb
