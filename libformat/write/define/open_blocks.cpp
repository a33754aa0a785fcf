#include "define/open_blocks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "model/name_rules.h"
#include "state/bodies.h"
#include "state/shared_layout.h"
#include "state/stored_blocks.h"
#include "wire/bytes.h"

namespace nmb {

namespace {

// A question to the owner of a name: which rank keeps the block of this name?
struct NameQuestion {
  std::string_view name;
};

template <class Fields>
void fields(Fields& all, NameQuestion& question) {
  all(question.name);
}

// The answer if no rank keeps a block of this name.
constexpr int kNobody = -1;
using Primary = Sharing::Handle;

// A request to the primary of a block, from a rank that opens the block.
struct OpenRequest {
  BlockId at_primary;
  BlockId at_sender;
};

// The primary's answer to an OpenRequest: a description of the block.
struct OpenReply {
  BlockId id;
  SharedLayout laid;
  std::span<const std::byte> body;
};

template <class Fields>
void fields(Fields& all, OpenReply& block) {
  all(block.id, block.laid, block.body);
}

// Adds the definitions that other ranks have made of a block, after those of this rank. whole: the
// united block, with the begins of its variables.
Status complete(BlockState& block, const Metadata& whole) {
  Metadata& own = *block.metadata;
  own.check_names_at_once();
  NMB_TRY(own.settle_names());
  std::vector<DimId> dimensions;
  for (DimId d = 0; d < whole.dimension_count(); ++d) {
    const Dimension dimension = whole.dimension(d);
    std::optional<DimId> id = own.find_dimension(dimension.name);
    if (!id) {
      NMB_ASSIGN(id, own.def_dim(dimension.name, dimension.length));
    }
    dimensions.push_back(*id);
  }
  const auto add_attributes = [&](VarId from, VarId to) {
    return whole.try_each_attribute(from, [&](const Attribute& attribute) {
      return own.put_att(to, attribute.name, attribute.type, attribute.values);
    });
  };
  NMB_TRY(add_attributes(kGlobal, kGlobal));
  std::vector<DimId> of_variable;
  for (VarId v = 0; v < whole.variable_count(); ++v) {
    const Variable variable = whole.variable(v);
    if (own.find_variable(variable.name)) continue;
    of_variable.clear();
    for (const DimId d : variable.dimensions) of_variable.push_back(dimensions[d]);
    NMB_ASSIGN(const VarId id, own.def_var(variable.name, variable.type, of_variable));
    NMB_TRY(add_attributes(v, id));
    own.set_begin(id, whole.begin(v));
  }
  return own.settle_names();
}

// Returns the names that this rank does not know yet, sorted and without duplicates.
// *partial: receives the known blocks whose other definitions only their primaries know.
Result<std::vector<std::string_view>> unknown_of(WriterCore& w,
                                                 std::span<const std::string_view> names,
                                                 std::set<BlockId>* partial) {
  std::vector<std::string_view> unknown;
  for (const std::string_view name : names) {
    NMB_ASSIGN(const std::optional<BlockId> known, known_block(w, name));
    if (!known) {
      unknown.push_back(name);
      continue;
    }
    BlockState& block = w.blocks[*known];
    if (!block.partial) continue;
    if (!block.committed || !block.body_stays()) {
      partial->insert(*known);
      continue;
    }
    NMB_ASSIGN(const ClassicHeader header, stored_header(w, *known));
    NMB_TRY(complete(block, header.metadata));
  }
  std::ranges::sort(unknown);
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  return unknown;
}

}  // namespace

Result<std::vector<BlockId>> open_blocks(WriterCore& w, std::span<const std::string_view> names) {
  std::set<BlockId> partial;
  const Result<std::vector<std::string_view>> found = unknown_of(w, names, &partial);
  NMB_TRY(w.ranks.agree(w.keep(found.status())));
  const std::vector<std::string_view>& unknown = *found;
  const std::vector<std::size_t> begins = w.names.slices.cut(unknown);
  Outbox<NameQuestion> questions;
  for (std::size_t s = 0; s < w.names.slices.count(); ++s)
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i)
      questions.add(w.names.slices.owner(s), {unknown[i]});
  NMB_ASSIGN(const Inbox<NameQuestion> asked, w.ranks.exchange(questions));
  Outbox<Primary> primaries;
  for (const auto& [rank, question] : asked)
    primaries.add(rank, w.names.owned.find(question.name).value_or(Primary{kNobody, 0}));
  NMB_ASSIGN(const Inbox<Primary> answers, w.ranks.exchange(primaries));

  // The answers are in the order of the names, because they arrive in the order of ranks, and
  // higher ranks own later slices.
  const auto is_of_others = [&](const Primary& primary) {
    return primary.rank != kNobody && primary.rank != w.ranks.own();
  };
  const auto find = [&]() -> Status {
    auto name = unknown.begin();
    for (const auto& [owner, primary] : answers) {
      if (!is_of_others(primary)) NMB_TRY(find_block(w, *name).status());
      ++name;
    }
    return {};
  };
  NMB_TRY(w.agree_unchanged(w.keep(find())));
  Outbox<OpenRequest> wanted;
  auto next = unknown.begin();
  for (const auto& [owner, primary] : answers) {
    const std::string_view name = *next++;
    if (!is_of_others(primary)) continue;
    const BlockId id = w.blocks.add(name);
    BlockState& block = w.blocks[id];
    block.kept = false;
    block.sharing = std::make_unique<Sharing>();
    block.sharing->primary = primary;
    wanted.add(primary.rank, {primary.id, id});
  }
  for (const BlockId id : partial) {
    const Sharing::Handle& primary = w.blocks[id].sharing->primary;
    wanted.add(primary.rank, {primary.id, id});
  }
  NMB_ASSIGN(const Inbox<OpenRequest> requests, w.ranks.exchange(wanted));

  Outbox<OpenReply> opened;
  const auto tell = [&]() -> Status {
    for (const auto& [rank, request] : requests) {
      BlockState& block = w.blocks[request.at_primary];
      if (!block.values.takes_puts())
        return Status(Code::kUsage,
                      "open_blocks() is not allowed for block " +
                          in_quotes(w.blocks.name(request.at_primary)) +
                          ", whose values are written by the next commit; call sync() "
                          "first");
      // If the block was renamed or packed, its definitions may not be loaded yet.
      NMB_TRY(load_definitions(w, request.at_primary));
      NMB_ASSIGN(const std::vector<std::byte> body, Bodies::body_of(block));
      if (!block.sharing) {
        block.sharing = std::make_unique<Sharing>();
        block.sharing->primary = {w.ranks.own(), request.at_primary};
      }
      bool shares = false;
      for (const Sharing::Handle& other : block.sharing->others)
        shares = shares || other.rank == rank;
      if (!shares) block.sharing->others.push_back({rank, request.at_sender});
      opened.add(rank, {request.at_sender, SharedLayout::of(block), body});
    }
    // From now on, other ranks may write to this rank's blocks.
    if (!requests.empty()) {
      NMB_TRY(w.buffer.flush());
      w.buffer.set_own({});
    }
    return {};
  };
  NMB_TRY(w.ranks.agree(w.keep(tell())));
  NMB_ASSIGN(const Inbox<OpenReply> blocks, w.ranks.exchange(opened));

  std::vector<BlockId> ids;
  const auto take = [&]() -> Status {
    for (const auto& [primary, message] : blocks) {
      BlockState& block = w.blocks[message.id];
      const MemorySource body(message.body, w.file->name());
      NMB_ASSIGN(ClassicHeader header, decode_classic_header(body, {.values_follow = false}));
      if (block.metadata) {
        NMB_TRY(complete(block, header.metadata));
        continue;
      }
      block.metadata = std::make_shared<Metadata>(std::move(header.metadata));
      message.laid.put_into(block);
      block.lay_out(w.committed.superblock.generation);
    }
    for (const std::string_view name : names) {
      NMB_ASSIGN(const BlockId id, find_block(w, name));
      ids.push_back(id);
    }
    return {};
  };
  NMB_TRY(w.ranks.agree(w.keep(take())));
  w.unexchanged = true;
  return ids;
}

}  // namespace nmb
