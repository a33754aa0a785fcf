// What the ranks of a writer tell one another of the blocks that they define: who else has one of
// the same name, the union of its definitions, where it lies, what was written of its values
// ("Parallel Data Object Creation", section 3.3; spec/rationale.md, "Shared blocks").
#include <algorithm>
#include <map>

#include "block/name_rules.h"
#include "conflict/united_block.h"
#include "nmb/byte_source.h"
#include "parallel/letters.h"
#include "wire/hash.h"
#include "writer/name_matching.h"
#include "writer/writer_impl.h"

namespace nmb {

// Takes note of who shares a block.
void Writer::Impl::take_match(BlockId id, NameMatch match) {
  BlockState& block = state(id);
  block.sharing.reset();
  block.kept = true;
  if (match.handles.empty()) return;
  block.sharing = std::make_unique<Sharing>();
  block.sharing->keeper = match.handles[0];
  block.kept = match.handles[0].rank == ranks_.rank();
  match.handles.erase(match.handles.begin());
  block.sharing->others = std::move(match.handles);
}

// Afterwards every block knows whether it is shared and who keeps it, and how many names come ahead
// of its own.
Status Writer::Impl::match_definitions(const std::vector<BlockId>& ids, bool* any_shared) {
  constexpr BlockId kNoBlock = ~BlockId{0};
  std::vector<NameRecord> records;
  records.reserve(ids.size());
  for (BlockId id : ids) {
    const BlockState& block = state(id);
    const Claim claim = block.is_new() ? (block.packed ? Claim::kDefineAlone : Claim::kDefine)
                                       : (block.renamed ? Claim::kDefineAlone : Claim::kChange);
    records.push_back({names_.at(id), id, claim});
  }
  for (const std::string& name : removed_names_)
    records.push_back({name, kNoBlock, Claim::kRemove});
  std::sort(records.begin(), records.end(),
            [](const NameRecord& a, const NameRecord& b) { return a.name < b.name; });
  owned_names_.clear();
  NMB_ASSIGN(std::vector<NameMatch> matches,
             match_names(ranks_, records, &name_slices_, &owned_names_));
  struct Found {
    bool shared, names_move;
  };
  Found mine{false, std::ranges::any_of(records, [](const NameRecord& record) {
               return record.claim != Claim::kChange;
             })};
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].id == kNoBlock) continue;
    state(records[i].id).names_ahead = matches[i].change;
    mine.shared = mine.shared || !matches[i].handles.empty();
    take_match(records[i].id, std::move(matches[i]));
  }
  NMB_ASSIGN(const Found all, ranks_.all_reduce(mine, [](Found a, Found b) {
    return Found{a.shared || b.shared, a.names_move || b.names_move};
  }));
  *any_shared = all.shared;
  names_move_ = all.names_move;
  return {};
}

// Digests first: only definitions that differ travel. The keeper's own come first in the union, so
// that its local IDs are those of the file.
Status Writer::Impl::unite_shared(const std::vector<BlockId>& ids) {
  // What another rank says of a block that this one keeps.
  struct Part {
    BlockId id;  // there
    Digest digest;
    std::uint64_t records, samples;
  };
  // Field by field: those of many ranks are the same bytes, which travel once.
  const auto put_part = [](MessageWriter& out, const Part& part) {
    out.put(part.id);
    out.put(part.digest);
    out.put_small(part.records);
    out.put_small(part.samples);
  };
  const auto get_part = [](MessageReader& in) {
    Part part;
    part.id = in.get<BlockId>();
    part.digest = in.get<Digest>();
    part.records = in.get_small();
    part.samples = in.get_small();
    return part;
  };
  auto own_digest = [&](const BlockState& block, Digest* digest) -> Status {
    DigestStream stream;
    NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
      stream.add(part);
      return {};
    }));
    *digest = stream.digest();
    return {};
  };
  Letters letters;
  auto tell_digests = [&]() -> Status {
    for (BlockId id : ids) {
      const BlockState& block = state(id);
      if (block.kept) continue;
      Part part{id, {}, block.records, block.samples};
      NMB_TRY(own_digest(block, &part.digest));
      MessageWriter& out = letters.to(block.sharing->keeper.rank);
      out.put(block.sharing->keeper.id);
      put_part(out, part);
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(tell_digests())));
  NMB_ASSIGN(const std::vector<Message> digests, ranks_.exchange(letters.take()));

  std::vector<BlockId> changed;  // in records or definitions
  auto compare = [&]() -> Status {
    std::map<BlockId, Digest> own;
    for (const Message& message : digests) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        const Part part = get_part(in);
        BlockState& block = state(id);
        auto [digest, first] = own.try_emplace(id);
        if (first) NMB_TRY(own_digest(block, &digest->second));
        if (part.digest != digest->second) letters.to(message.from()).put(part.id);
        if (part.records > block.records || part.digest != digest->second) changed.push_back(id);
        block.records = std::max(block.records, part.records);
        block.samples = std::max(block.samples, part.samples);
      }
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(compare())));
  NMB_ASSIGN(const std::vector<Message> requests, ranks_.exchange(letters.take()));

  auto send_bodies = [&]() -> Status {
    for (const Message& message : requests) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        std::vector<std::byte> body;
        NMB_TRY(for_body(state(id), [&](std::span<const std::byte> part) -> Status {
          body.insert(body.end(), part.begin(), part.end());
          return {};
        }));
        MessageWriter& out = letters.to(message.from());
        out.put(state(id).sharing->keeper.id);
        out.put(Sharing::Handle{ranks_.rank(), id});
        out.put_bytes(body);
      }
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(send_bodies())));
  NMB_ASSIGN(const std::vector<Message> bodies, ranks_.exchange(letters.take()));

  auto unite = [&]() -> Status {
    std::map<BlockId, UnitedBlock> unions;
    for (const Message& message : bodies) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        const auto handle = in.get<Sharing::Handle>();
        auto [united, first] = unions.try_emplace(id, names_.at(id));
        if (first) NMB_TRY(united->second.add(ranks_.rank(), *state(id).metadata).status());
        const MemorySource body(in.get_bytes(), file_->name());
        NMB_ASSIGN(const ClassicHeader header,
                   decode_classic_header(body, {.values_follow = false}));
        NMB_ASSIGN(UnitedBlock::Ids places, united->second.add(handle.rank, header.metadata));
        state(id).sharing->places.emplace_back(handle, std::move(places.variables));
      }
    }
    for (auto& [id, united] : unions)
      state(id).metadata = std::make_unique<Metadata>(std::move(united).take());
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (BlockId id : changed) NMB_TRY(lay_out_definitions(id));
    return {};
  };
  return ranks_.agree(unite().in_file(file_->name()));
}

namespace {

// Where a block and its values lie, for the ranks that do not keep it.
struct Laid {
  ClassicLayout layout;
  Digest digest;
  std::uint64_t order, records, samples, extent_length, run_position;
  bool inline_run;

  static Laid of(const BlockState& block) {
    return {block.layout,  block.digest,        block.order,        block.records,
            block.samples, block.extent_length, block.run_position, block.inline_run};
  }
  void put_into(BlockState& block) const {
    block.layout = layout;
    block.digest = digest;
    block.order = order;
    block.records = records;
    block.samples = samples;
    block.extent_length = extent_length;
    block.run_position = run_position;
    block.inline_run = inline_run;
  }
};

}  // namespace

// Where blocks lie that other ranks share, and their own variables in them.
Status Writer::Impl::tell_sharers(const std::vector<BlockId>& ids) {
  Letters letters;
  for (BlockId id : ids) {
    BlockState& block = state(id);
    if (!block.kept || !block.sharing) continue;
    auto places = block.sharing->places.begin();
    const Laid laid = Laid::of(block);  // the same bytes for all
    for (const Sharing::Handle& other : block.sharing->others) {
      MessageWriter& out = letters.to(other.rank);
      out.put(other.id);
      out.put(laid);
      const bool differs =
          places != block.sharing->places.end() && places->first.rank == other.rank;
      out.put(differs);
      if (!differs) continue;
      for (VarId variable : places->second) out.put(block.metadata->begin(variable));
      ++places;
    }
    block.sharing->places = {};
  }
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));
  for (const Message& message : arrived) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      BlockState& block = state(in.get<BlockId>());
      const auto laid = in.get<Laid>();
      laid.put_into(block);
      block.partial = in.get<bool>();
      if (!block.partial) continue;
      for (VarId v = 0; v < block.metadata->variable_count(); ++v)
        block.metadata->set_begin(v, in.get<std::uint64_t>());
    }
  }
  return {};
}

// Blocks that other ranks have defined since the last commit: their owners know who keeps them, the
// keepers what they are. Others are found in the index.
Result<std::vector<BlockId>> Writer::Impl::open_blocks(std::span<const std::string_view> names) {
  std::vector<BlockId> ids(names.size());
  std::vector<std::size_t> unknown;  // places of names, in their order
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::optional<std::uint32_t> id = names_.find(names[i]))
      ids[i] = *id;
    else
      unknown.push_back(i);
  }
  std::sort(unknown.begin(), unknown.end(),
            [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  unknown.erase(std::unique(unknown.begin(), unknown.end(),
                            [&](std::size_t a, std::size_t b) { return names[a] == names[b]; }),
                unknown.end());
  std::vector<std::string_view> sorted;
  for (std::size_t i : unknown) sorted.push_back(names[i]);
  const std::vector<std::size_t> begins = name_slices_.cut(sorted);
  Letters letters;
  for (std::size_t s = 0; s < name_slices_.count(); ++s)
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i)
      letters.to(name_slices_.owner(s)).put_text(sorted[i]);
  NMB_ASSIGN(const std::vector<Message> asked, ranks_.exchange(letters.take()));
  constexpr int kNobody = -1;
  for (const Message& message : asked) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      const std::optional<Sharing::Handle> keeper = owned_names_.find(in.get_text());
      letters.to(message.from()).put(keeper.value_or(Sharing::Handle{kNobody, 0}));
    }
  }
  NMB_ASSIGN(const std::vector<Message> answers, ranks_.exchange(letters.take()));
  // Owners ascend with their slices: answers are in the order of the sorted names.
  auto find = [&]() -> Status {
    std::size_t next = 0;
    for (const Message& answer : answers) {
      for (MessageReader in(answer.bytes()); !in.at_end(); ++next) {
        const auto keeper = in.get<Sharing::Handle>();
        if (keeper.rank == kNobody || keeper.rank == ranks_.rank()) {
          NMB_TRY(find_block(sorted[next]).status());
          continue;
        }
        const BlockId id = add_block(sorted[next]);
        BlockState& block = state(id);
        block.kept = false;
        block.sharing = std::make_unique<Sharing>();
        block.sharing->keeper = keeper;
        letters.to(keeper.rank).put(keeper.id);
        letters.to(keeper.rank).put(id);
      }
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(find())));
  NMB_ASSIGN(const std::vector<Message> requests, ranks_.exchange(letters.take()));
  auto tell = [&]() -> Status {
    for (const Message& message : requests) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        const Sharing::Handle handle{message.from(), in.get<BlockId>()};
        BlockState& block = state(id);
        if (!block.sharing) {
          block.sharing = std::make_unique<Sharing>();
          block.sharing->keeper = {ranks_.rank(), id};
        }
        block.sharing->others.push_back(handle);
        if (!block.values.takes_puts())
          return Status(Code::kUsage, "found packed block " + in_quotes(names_.at(id)) +
                                          " opened before its values were moved, expected sync() "
                                          "before");
        std::vector<std::byte> body;
        NMB_TRY(for_body(block, [&](std::span<const std::byte> part) -> Status {
          body.insert(body.end(), part.begin(), part.end());
          return {};
        }));
        MessageWriter& out = letters.to(handle.rank);
        out.put(handle.id);
        out.put(Laid::of(block));
        out.put_bytes(body);
      }
    }
    // Others may write in this rank's blocks from now on.
    if (!requests.empty()) {
      NMB_TRY(buffer_.flush());
      buffer_.set_own({});
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(tell())));
  NMB_ASSIGN(const std::vector<Message> blocks, ranks_.exchange(letters.take()));
  auto take = [&]() -> Status {
    for (const Message& message : blocks) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        BlockState& block = state(in.get<BlockId>());
        const auto laid = in.get<Laid>();
        const MemorySource body(in.get_bytes(), file_->name());
        NMB_ASSIGN(ClassicHeader header, decode_classic_header(body, {.values_follow = false}));
        block.metadata = std::make_unique<Metadata>(std::move(header.metadata));
        laid.put_into(block);
        block.written = true;
        block.known_at = superblock_.generation;
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      NMB_ASSIGN(ids[i], find_block(names[i]));
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(take())));
  return ids;
}

// What this rank wrote of blocks that others keep, for the keepers to finish.
Status Writer::Impl::collect_values() {
  if (ranks_.size() == 1) return {};
  Letters letters;
  for (BlockId id : dirty_) {
    BlockState& block = state(id);
    ExtentState* const extent = block.values.extent();
    if (block.kept || block.removed || !extent) continue;
    MessageWriter& out = letters.to(block.sharing->keeper.rank);
    out.put(block.sharing->keeper.id);
    extent->written().put(out);
    block.values = ExtentOrigin();
    block.dirty = false;
  }
  std::erase_if(dirty_, [&](BlockId id) { return !state(id).kept; });
  for (const auto& [keeper, written] : std::exchange(written_for_, {})) {
    MessageWriter& out = letters.to(keeper.first);
    out.put(keeper.second);
    written.put(out);
  }
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));
  auto take = [&]() -> Status {
    for (const Message& message : arrived) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        extent_of(id)->written().take(in);
        if (!state(id).dirty) dirty_.push_back(id);
        state(id).dirty = true;
      }
    }
    return {};
  };
  return ranks_.agree(keep(take()));
}

}  // namespace nmb
