#include "define/definitions.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "model/name_rules.h"
#include "model/sections.h"
#include "put/value_exchange.h"
#include "state/extents.h"
#include "state/stored_blocks.h"
#include "table/tag_row.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Checks a block name (spec/format.md, section 8.4).
Status check_block_name(std::string_view name, Metadata::Names names) {
  auto bad = [&](const std::string& why) {
    return Status(Code::kUsage,
                  "invalid block name " + in_quotes(name) + ": expected a name " + why);
  };
  if (name.empty()) return {};
  if (name.size() > kMaxNameBytes) return bad("of at most 65535 bytes");
  if (name.find('\0') != std::string_view::npos) return bad("without NUL");
  if (names == Metadata::Names::kNew && !is_utf8(name)) return bad("in UTF-8");
  for (std::size_t begin = 0; begin <= name.size();) {
    std::size_t end = name.find('/', begin);
    if (end == std::string_view::npos) end = name.size();
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      return bad("without empty parts and without the parts \".\" and \"..\"");
    begin = end + 1;
  }
  return {};
}

// Fails if the extended body of a block has unknown sections that forbid changes.
Status check_body_may_change(const ReaderCore& core, const BlockEntry& entry) {
  constexpr std::uint16_t kFirstKnown = 2, kLastKnown = 5;
  constexpr std::size_t kHeaderLengthOffset = 12;
  if (static_cast<Kind>(entry.kind) != Kind::kExtended) return {};
  const Result<StoredBlock> stored = core.load(entry, false);
  if (!stored.ok() || stored->body.size() < kHeaderLengthOffset + 8)
    return {};  // such a block may still be removed
  const std::uint64_t size = stored->body.size();
  const std::uint64_t begin =
      round_up(std::min(load_be<std::uint64_t>(&stored->body[kHeaderLengthOffset]), size), 8);
  if (begin >= size) return {};
  Status status;
  NMB_TRY(walk_sections(
      MemorySource(stored->body), {begin, size - begin, 0},
      [&](const SectionFrame& frame) {
        const bool known = frame.type >= kFirstKnown && frame.type <= kLastKnown;
        if (!known && (frame.flags & (kCriticalForReading | kCriticalForWriting)) != 0)
          status = Status(Code::kUnsupported, core.file().name(), kNoOffset, "",
                          joined_text("block ", in_quotes(entry.name), " has a section of type ",
                                      frame.type, " that only a newer version can update"));
      },
      [](std::uint64_t, const std::string&, const std::string&) {}));
  return status;
}

}  // namespace

Status outside_define_mode() {
  return Status(Code::kUsage, "definitions need define mode; call redefine() first");
}

// The next commit writes the committed block again, or removes it.
void Definitions::retire_header(BlockId id, EntryChange entry_change) {
  BlockState& block = w_.blocks[id];
  if (block.committed) block.entry_change = std::max(block.entry_change, entry_change);
}

Result<BlockId> Definitions::define_block(std::string_view name, const Metadata* definitions,
                                          Metadata::Names names) {
  NMB_TRY(w_.failure);
  if (!w_.define_mode) return outside_define_mode();
  NMB_TRY(check_block_name(name, names));
  NMB_ASSIGN(bool taken, exists(w_, name));
  if (taken) return Status(Code::kExists, "block " + in_quotes(name) + " already exists");
  const BlockId id = w_.blocks.add(name);
  BlockState& block = w_.blocks[id];
  block.metadata = std::make_shared<Metadata>();
  // Blocks of one file usually have similar definitions, so a new block reserves as much memory as
  // the previous block uses. If the previous block uses more than kReserve, it may be the only
  // large one, and no memory is reserved.
  constexpr std::size_t kReserve = 64 << 10;
  const BlockState* const before = id > 0 ? defining_new(id - 1) : nullptr;
  w_.blocks.names_like = NamesLike(before && !definitions ? before->metadata.get() : nullptr);
  if (definitions)
    block.metadata->copy_from(*definitions, w_.blocks.arena,
                              before ? before->metadata.get() : nullptr);
  else if (before && before->metadata->memory() <= kReserve)
    block.metadata->reserve_like(*before->metadata, w_.blocks.arena);
  w_.blocks.mark_pending(id);
  return id;
}

// Starts a redefinition of a block that has a layout. end_define() copies the values of the block
// to the new layout.
Status Definitions::start_edit(BlockId id) {
  BlockState& block = w_.blocks[id];
  if (!block.is_laid_out() || block.stage == BlockStage::kEdited) return {};
  if (block.partial)
    return Status(Code::kUnsupported, "block " + in_quotes(w_.blocks.name(id)) +
                                          " cannot be changed by a rank that has defined only a "
                                          "part of it, or its objects in another order");
  if (!block.values.takes_puts())
    return Status(Code::kUsage, "block " + in_quotes(w_.blocks.name(id)) +
                                    " cannot be changed before its values are committed; call "
                                    "sync() first");
  if (block.next.kind == Kind::kExtended)
    return Status(Code::kUnsupported, "block " + in_quotes(w_.blocks.name(id)) +
                                          " came from HDF5 (kind 6) and cannot be changed");
  NMB_TRY(load_definitions(w_, id));
  NMB_TRY(extent_of(w_, id)->load(0));
  auto old = std::make_unique<OldContent>();
  old->metadata = *block.metadata;
  old->layout = block.layout;
  old->records = block.next.records;
  old->next = block.next;
  old->entry_change = block.entry_change;
  old->extent = block.values.as<PutValues>()->take();
  retire_header(id, EntryChange::kReplaced);
  block.edit(std::move(old));
  w_.blocks.mark_pending(id);
  return {};
}

Result<BlockState*> Definitions::defining(BlockId id) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_id(w_, id));
  if (!w_.define_mode) return outside_define_mode();
  if (w_.blocks[id].packed())
    return Status(Code::kUsage, "packed block " + in_quotes(w_.blocks.name(id)) +
                                    " cannot be changed before it is committed; call sync() first");
  NMB_TRY(start_edit(id));
  return &w_.blocks[id];
}

// Returns whether some values of a variable were not written. A commit writes the fill value for
// such values, so committed values that equal the fill value count as not written.
Result<bool> Definitions::has_missing(const OldContent& old, VarId variable) {
  NMB_ASSIGN(const VariableShape shape, shape_of(old.metadata, old.layout, variable, old.records));
  const std::uint64_t size = shape.element_size;
  const std::uint64_t slice = old.metadata.slice_bytes(variable).value_or(0);
  const std::uint64_t slices = shape.record_size ? old.records : 1;
  const std::vector<std::byte> missing = fill_value(old.metadata, variable);
  const FillPattern fill(old.metadata, old.layout);
  std::vector<std::byte> buffer;
  for (std::uint64_t i = 0; i < slices; ++i) {
    const std::uint64_t begin = shape.begin + i * shape.record_size, end = begin + slice;
    std::uint64_t stored = 0;
    for (const Interval& part : old.extent->stored_in(begin, end)) stored += part.end - part.begin;
    if (stored != slice) return true;
    if (old.extent->is_fresh(begin, end)) continue;
    constexpr std::uint64_t kAtOnce = 1 << 20;  // a multiple of every size
    for (std::uint64_t at = begin; at < end; at += buffer.size()) {
      buffer.resize(std::min(end - at, kAtOnce));
      NMB_TRY(old.extent->read(at, buffer, w_.buffer, fill));
      for (std::uint64_t k = 0; k < buffer.size(); k += size)
        if (std::memcmp(&buffer[k], missing.data(), size) == 0 &&
            !old.extent->is_fresh(at + k, at + k + size))
          return true;
    }
  }
  return false;
}

// Missing values are read as the fill value, so it must not change while there are any.
Status Definitions::check_fill_may_change(const OldContent& old, VarId variable) {
  NMB_ASSIGN(const bool missing, has_missing(old, variable));
  if (!missing) return {};
  return Status(Code::kUsage,
                "_FillValue of " + in_quotes(old.metadata.variable(variable).name) +
                    " cannot change while some values of the variable are not written");
}

Status Definitions::put_att(BlockId id, VarId variable, std::string_view name, Type type,
                            std::span<const std::byte> values) {
  NMB_ASSIGN(BlockState * block, defining(id));
  if (block->old) {
    NMB_TRY(check_new_name("attribute", name));
    const Metadata& before = block->old->metadata;
    if (name == "_FillValue" && variable < before.variable_count() &&
        !std::ranges::equal(values, fill_value(before, variable)))
      NMB_TRY(check_fill_may_change(*block->old, variable));
  }
  return block->metadata->put_att(variable, name, type, values);
}

Status Definitions::set_tag(BlockId id, std::string_view name, TagValue value) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_id(w_, id));
  if (!w_.define_mode) return outside_define_mode();
  if (!w_.blocks[id].is_new())
    return Status(Code::kUnsupported, "block " + in_quotes(w_.blocks.name(id)) +
                                          " is committed, so its tags cannot change; copy the "
                                          "block into a new file and set its tags there");
  NMB_TRY(check_new_tag(name, value));
  w_.tags.set(id, name, std::move(value));
  return {};
}

// A block that is not committed, and that other ranks have, stays and keeps its name.
Status Definitions::check_not_shared(BlockId id) const {
  const BlockState& block = w_.blocks[id];
  if (!block.sharing || !block.is_new() || !block.is_laid_out()) return {};
  return Status(Code::kUnsupported,
                "block " + in_quotes(w_.blocks.name(id)) +
                    " is shared by several ranks, so it cannot be removed or renamed before it is "
                    "committed; call sync() first");
}

Status Definitions::remove_block(BlockId id) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_id(w_, id));
  if (!w_.define_mode) return outside_define_mode();
  NMB_TRY(check_not_shared(id));
  BlockState& block = w_.blocks[id];
  if (block.committed) NMB_TRY(check_body_may_change(*w_.committed.reader, *block.committed));
  w_.moved_names = w_.moved_names || block.is_laid_out();
  if (block.committed || block.values.extent() || block.old) {
    ExtentState* extent = block.old ? block.old->extent.get() : nullptr;
    if (!extent) extent = extent_of(w_, id);
    NMB_TRY(w_.keep(extent->resize(0, w_.buffer, w_.next)));
  }
  if (block.committed) {
    retire_header(id, EntryChange::kReplaced);
    w_.blocks.removed_names.insert(block.committed->name);
    w_.blocks.mark_dirty(id);
  }
  w_.blocks.forget_name(id);
  w_.tags.forget(id);
  block.remove();
  return {};
}

Status Definitions::rename_block(BlockId id, std::string_view name) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_id(w_, id));
  if (!w_.define_mode) return outside_define_mode();
  NMB_TRY(check_block_name(name, Metadata::Names::kNew));
  if (name == w_.blocks.name(id)) return {};
  NMB_TRY(check_not_shared(id));
  NMB_ASSIGN(bool taken, exists(w_, name));
  if (taken) return Status(Code::kExists, "block " + in_quotes(name) + " already exists");
  BlockState& block = w_.blocks[id];
  if (block.committed) NMB_TRY(check_body_may_change(*w_.committed.reader, *block.committed));
  w_.moved_names = w_.moved_names || block.is_laid_out();
  if (block.body_stays()) {
    // The body of the renamed block is copied byte for byte.
    NMB_ASSIGN(StoredBlock stored, w_.committed.reader->load(*block.committed, false));
    extent_of(w_, id);
    block.move_body(std::move(stored.body));
    w_.blocks.mark_pending(id);
  } else if (block.is_laid_out()) {
    w_.blocks.mark_pending(id);
  }
  if (block.committed) {
    if (!block.is_renamed()) w_.blocks.removed_names.insert(block.committed->name);
    retire_header(id, EntryChange::kRenamed);
  }
  w_.blocks.rename(id, name);
  return {};
}

Status Definitions::check_discard() const {
  if (!w_.define_mode) return outside_define_mode();
  if (!w_.moved_names && w_.next.originals.empty()) return {};
  return Status(Code::kUnsupported,
                "definitions cannot be discarded after a block was removed or renamed, or an "
                "original was added");
}

void Definitions::discard() {
  for (BlockId id = 0; id < w_.blocks.size(); ++id) {
    BlockState& block = w_.blocks[id];
    if (block.stage == BlockStage::kEdited) block.restore();
    if (block.stage != BlockStage::kDefined) continue;
    w_.blocks.forget_name(id);
    w_.tags.forget(id);
    block.remove();
  }
  w_.blocks.pending.clear();
  w_.blocks.names_like = NamesLike(nullptr);
}

Status Definitions::redefine() {
  const auto check = [&] {
    return w_.define_mode
               ? Status(Code::kUsage,
                        "redefine() is not allowed in define mode; call end_define() first")
               : Status();
  };
  // The primaries must know all values of their blocks, because they carry them to other places.
  return w_.together("redefine()", check, [&]() -> Status {
    NMB_ASSIGN(const bool any, w_.ranks.any(!w_.blocks.dirty.empty()));
    if (any) NMB_TRY(exchange_values(w_));
    w_.define_mode = true;
    w_.moved_names = false;
    return {};
  });
}

namespace {

// Checks that `next` has the objects of `old`, and perhaps more, in the same order.
Status check_continues(const Metadata& old, const Metadata& next) {
  const auto wrong = [](std::string_view what) {
    return Status(Code::kUsage, joined_text("new definitions of a block must begin with its ", what,
                                            ", which may have other names"));
  };
  if (next.dimension_count() < old.dimension_count()) return wrong("dimensions");
  for (DimId d = 0; d < old.dimension_count(); ++d)
    if (next.dimension(d).length != old.dimension(d).length) return wrong("dimensions");
  if (next.variable_count() < old.variable_count()) return wrong("variables");
  for (VarId v = 0; v < old.variable_count(); ++v) {
    const Variable before = old.variable(v), after = next.variable(v);
    if (before.type != after.type || !std::ranges::equal(before.dimensions, after.dimensions))
      return wrong("variables");
  }
  return {};
}

}  // namespace

Status Definitions::redefine_block(BlockId id, const Metadata& next, Kind kind) {
  auto metadata = std::make_shared<Metadata>(next);
  NMB_TRY(metadata->settle_names());
  return redefine_block(id, std::move(metadata), kind);
}

Status Definitions::redefine_block(BlockId id, std::shared_ptr<Metadata> metadata, Kind kind) {
  NMB_ASSIGN(BlockState * block, defining(id));
  if (!is_classic(kind)) return Status(Code::kUsage, "a block must be CDF-1, CDF-2 or CDF-5");
  NMB_TRY(layout_classic(*metadata, kind).status());
  if (const OldContent* const old = block->old.get()) {
    NMB_TRY(check_continues(old->metadata, *metadata));
    for (VarId v = 0; v < old->metadata.variable_count(); ++v) {
      if (std::ranges::equal(fill_value(*metadata, v), fill_value(old->metadata, v))) continue;
      NMB_TRY(check_fill_may_change(*old, v));
    }
  }
  w_.blocks.names_like = NamesLike(nullptr);  // it may refer to the old definitions
  block->metadata = std::move(metadata);
  block->known_dims = block->metadata->dimension_count();
  block->known_vars = block->metadata->variable_count();
  block->next.kind = kind;
  return {};
}

}  // namespace nmb
