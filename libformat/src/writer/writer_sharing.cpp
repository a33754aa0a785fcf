// What the ranks of a writer tell one another of the blocks that they define: who else has one of
// the same name, the union of its definitions, where it lies, what was written of its values
// ("Parallel Data Object Creation", section 3.3; spec/rationale.md, "Shared blocks").
#include <algorithm>
#include <map>

#include "block/name_rules.h"
#include "conflict/united_block.h"
#include "nmb/byte_source.h"
#include "parallel/merge_runs.h"
#include "parallel/message_codec.h"
#include "parallel/name_slices.h"
#include "wire/hash.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

constexpr BlockId kNoBlock = ~BlockId{0};

// What a rank does with a name of a block.
enum class Claim : std::uint8_t {
  kDefine,       // defines a block, which others may define too
  kDefineAlone,  // packs one, or gives one of the file the name
  kChange,       // changes a block of the file
  kRemove,       // takes the name from a block of the file
  kHold,         // has a handle of a block of the file
};

std::string_view text_of(Claim claim) {
  switch (claim) {
    case Claim::kDefine:
      return "defined";
    case Claim::kDefineAlone:
      return "packed or renamed";
    case Claim::kChange:
      return "changed";
    case Claim::kRemove:
      return "removed or renamed";
    case Claim::kHold:
      break;
  }
  return "held";
}

struct Record {
  std::string_view name;
  BlockId id;
  Claim claim;
};

// A record at the owner of its name.
struct Claimed {
  std::string_view name;
  Sharing::Handle handle;
  Claim claim;
  std::int64_t change = 0;  // names that come less names that go, ahead of this one in the slice
};

// Whether records of one name go together, and what they do to the number of names.
Status judge(std::span<const Claimed> group, std::int64_t* change) {
  bool comes = false, goes = false, all_define = true;
  const Claimed* first = nullptr;
  const Claimed* other = nullptr;
  for (const Claimed& c : group) {
    if (c.claim == Claim::kHold) continue;
    comes = comes || c.claim == Claim::kDefine || c.claim == Claim::kDefineAlone;
    goes = goes || c.claim == Claim::kRemove;
    all_define = all_define && c.claim == Claim::kDefine;
    if (!first) first = &c;
    if (!other && c.handle.rank != first->handle.rank) other = &c;
  }
  *change = (comes ? 1 : 0) - (goes ? 1 : 0);
  if (!other || all_define) return {};
  return Status(Code::kConflict, "block " + quoted(first->name) + ": found " +
                                     std::string(text_of(other->claim)) + " on rank " +
                                     std::to_string(other->handle.rank) + ", expected only " +
                                     std::string(text_of(first->claim)) + " on rank " +
                                     std::to_string(first->handle.rank));
}

// Parcels to several ranks, filled in any order.
class Letters {
 public:
  MessageWriter& to(int rank) { return letters_[rank]; }
  std::vector<Communicator::Parcel> take() {
    std::vector<Communicator::Parcel> parcels;
    for (auto& [rank, letter] : letters_) parcels.push_back({rank, letter.take()});
    letters_.clear();
    return parcels;
  }

 private:
  std::map<int, MessageWriter> letters_;
};

}  // namespace

// Who defines what: records go to the owners of slices of the name space, who see equal names side
// by side. Afterwards every block knows whether it is shared and who keeps it, and its global ID.
Status Writer::Impl::match_names(const std::vector<BlockId>& ids, bool* any_shared) {
  std::vector<Record> records;
  records.reserve(ids.size());
  for (BlockId id : ids) {
    const BlockState& block = state(id);
    const Claim claim = block.is_new() ? (block.packed ? Claim::kDefineAlone : Claim::kDefine)
                                       : (block.renamed ? Claim::kDefineAlone : Claim::kChange);
    records.push_back({names_.at(id), id, claim});
  }
  for (BlockId id = 0; id < blocks_.size(); ++id) {
    const BlockState& block = state(id);
    if (block.written && !block.removed && !block.pending && block.committed)
      records.push_back({names_.at(id), id, Claim::kHold});
  }
  for (const std::string& name : removed_names_)
    records.push_back({name, kNoBlock, Claim::kRemove});
  std::sort(records.begin(), records.end(),
            [](const Record& a, const Record& b) { return a.name < b.name; });
  std::vector<std::string_view> names;
  names.reserve(records.size());
  for (const Record& record : records) names.push_back(record.name);

  NMB_ASSIGN(const NameSlices slices, NameSlices::choose(ranks_, names, kLeafRows));
  const std::vector<std::size_t> begins = slices.cut(names);
  Letters letters;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) {
      MessageWriter& out = letters.to(slices.owner(s));
      out.put(records[i].id);
      out.put(records[i].claim);
      out.put_text(records[i].name);
    }
  }
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));

  std::vector<Claimed> claims;
  std::vector<std::size_t> ends;
  for (const Message& message : arrived) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      const auto id = in.get<BlockId>();
      const auto claim = in.get<Claim>();
      claims.push_back({in.get_text(), {message.from(), id}, claim});
    }
    ends.push_back(claims.size());
  }
  // Runs are of ascending ranks and stay so within a name.
  merge_runs(claims, std::move(ends),
             [](const Claimed& a, const Claimed& b) { return a.name < b.name; });
  Status status;
  std::int64_t changes = 0;
  for (std::size_t i = 0, j; i < claims.size(); i = j) {
    for (j = i + 1; j < claims.size() && claims[j].name == claims[i].name;) ++j;
    std::int64_t change = 0;
    const Status judged = judge(std::span(claims).subspan(i, j - i), &change);
    if (status.ok()) status = judged;
    for (std::size_t k = i; k < j; ++k) claims[k].change = changes;
    changes += change;
  }
  NMB_TRY(ranks_.agree(status.in_file(file_->name())));
  NMB_ASSIGN(const std::int64_t before,
             ranks_.scan_before(changes, std::int64_t{0}, std::plus<>()));
  // The answers to a rank's records are in the order of its names.
  for (std::size_t i = 0, j; i < claims.size(); i = j) {
    for (j = i + 1; j < claims.size() && claims[j].name == claims[i].name;) ++j;
    const bool shared = j - i > 1 && claims[i].claim == Claim::kDefine;
    for (std::size_t k = i; k < j; ++k) {
      MessageWriter& out = letters.to(claims[k].handle.rank);
      out.put(before + claims[k].change);
      out.put(static_cast<std::uint32_t>(!shared ? 0 : k == i ? j - i - 1 : 1));
      if (shared && k == i)
        for (std::size_t other = i + 1; other < j; ++other) out.put(claims[other].handle);
      if (shared && k > i) out.put(claims[i].handle);
    }
  }
  NMB_ASSIGN(const std::vector<Message> answers, ranks_.exchange(letters.take()));
  std::size_t next = 0;
  bool mine_shared = false;
  for (const Message& answer : answers) {
    for (MessageReader in(answer.bytes()); !in.at_end(); ++next) {
      const Record& record = records[next];
      const auto change = in.get<std::int64_t>();
      const auto handles = in.get<std::uint32_t>();
      std::vector<Sharing::Handle> others(handles);
      for (Sharing::Handle& handle : others) handle = in.get<Sharing::Handle>();
      if (record.id == kNoBlock) continue;
      BlockState& block = state(record.id);
      block.global_id = static_cast<std::uint64_t>(change);
      if (core_) {
        NMB_ASSIGN(const std::uint64_t committed, core_->index().rank_of(record.name));
        block.global_id += committed;
      }
      if (handles == 0) continue;
      mine_shared = true;
      block.sharing = std::make_unique<Sharing>();
      block.kept = others[0].rank > ranks_.rank();
      if (block.kept) {
        block.sharing->keeper = {ranks_.rank(), record.id};
        block.sharing->others = std::move(others);
      } else {
        block.sharing->keeper = others[0];
      }
    }
  }
  NMB_ASSIGN(*any_shared, ranks_.all_reduce(mine_shared, std::logical_or<>()));
  return {};
}

// Digests first: only definitions that differ travel. The keeper's own come first in the union, so
// that its local IDs are those of the file.
Status Writer::Impl::unite_shared(const std::vector<BlockId>& ids) {
  // What another rank says of a block that this one keeps.
  struct Part {
    Sharing::Handle handle;
    Digest digest;
    std::uint64_t records, samples;
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
      Part part{{ranks_.rank(), id}, {}, block.records, block.samples};
      NMB_TRY(own_digest(block, &part.digest));
      MessageWriter& out = letters.to(block.sharing->keeper.rank);
      out.put(block.sharing->keeper.id);
      out.put(part);
    }
    return {};
  };
  NMB_TRY(ranks_.agree(keep(tell_digests())));
  NMB_ASSIGN(const std::vector<Message> digests, ranks_.exchange(letters.take()));

  std::map<BlockId, std::vector<Part>> different;  // from this rank's definitions
  std::vector<BlockId> changed;                    // in records or definitions
  auto compare = [&]() -> Status {
    std::map<BlockId, Digest> own;
    for (const Message& message : digests) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        const auto part = in.get<Part>();
        BlockState& block = state(id);
        auto [digest, first] = own.try_emplace(id);
        if (first) NMB_TRY(own_digest(block, &digest->second));
        if (part.digest != digest->second) {
          different[id].push_back(part);
          letters.to(message.from()).put(part.handle.id);
        }
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
        DecodeOptions options;
        options.values_follow = false;
        NMB_ASSIGN(const ClassicHeader header, decode_classic_header(body, options));
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

// Where blocks lie that other ranks share, and their own variables in them.
Status Writer::Impl::tell_sharers(const std::vector<BlockId>& ids) {
  struct Laid {
    ClassicLayout layout;
    Digest digest;
    std::uint64_t order, records, samples, extent_length, run_position;
    bool inline_run;
  };
  Letters letters;
  for (BlockId id : ids) {
    BlockState& block = state(id);
    if (!block.kept || !block.sharing) continue;
    auto places = block.sharing->places.begin();
    for (const Sharing::Handle& other : block.sharing->others) {
      MessageWriter& out = letters.to(other.rank);
      out.put(other.id);
      out.put(Laid{block.layout, block.digest, block.order, block.records, block.samples,
                   block.extent_length, block.run_position, block.inline_run});
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
      block.digest = laid.digest;
      block.layout = laid.layout;
      block.order = laid.order;
      block.records = laid.records;
      block.samples = laid.samples;
      block.extent_length = laid.extent_length;
      block.run_position = laid.run_position;
      block.inline_run = laid.inline_run;
      block.partial = in.get<bool>();
      if (!block.partial) continue;
      for (VarId v = 0; v < block.metadata->variable_count(); ++v)
        block.metadata->set_begin(v, in.get<std::uint64_t>());
    }
  }
  return {};
}

// What this rank wrote of blocks that others keep, for the keepers to finish.
Status Writer::Impl::collect_values() {
  if (!sharing_) return {};
  Letters letters;
  for (BlockId id : dirty_) {
    BlockState& block = state(id);
    if (block.kept || block.removed || !block.extent) continue;
    MessageWriter& out = letters.to(block.sharing->keeper.rank);
    out.put(block.sharing->keeper.id);
    block.extent->put_written(out);
    block.extent.reset();
    block.dirty = false;
  }
  std::erase_if(dirty_, [&](BlockId id) { return !state(id).kept; });
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));
  auto take = [&]() -> Status {
    for (const Message& message : arrived) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto id = in.get<BlockId>();
        NMB_ASSIGN(ExtentState * extent, extent_of(id));
        extent->take_written(in);
        if (!state(id).dirty) dirty_.push_back(id);
        state(id).dirty = true;
      }
    }
    return {};
  };
  return ranks_.agree(keep(take()));
}

}  // namespace nmb
