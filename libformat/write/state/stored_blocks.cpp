#include "state/stored_blocks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "model/name_rules.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Updates what this rank knows about a block, if another rank may have changed the block in a
// commit.
Status refresh(WriterCore& w, BlockId id) {
  BlockState& block = w.blocks[id];
  if (w.ranks.is_alone() || !block.is_laid_out() ||
      block.known_at == w.committed.superblock.generation)
    return {};
  block.forget_sharing();
  NMB_ASSIGN(std::optional<BlockEntry> entry, w.committed.reader->index().find(w.blocks.name(id)));
  if (!entry || entry->order != block.next.order)
    return Status(Code::kNotFound, w.file->name(), kNoOffset, "",
                  "block " + in_quotes(w.blocks.name(id)) + " was removed or renamed" +
                      (entry ? "; another block has this name now" : ""));
  if (entry->digest != block.next.digest) {
    if (block.partial)
      return Status(Code::kUnsupported,
                    "another rank has redefined the shared block " + in_quotes(w.blocks.name(id)));
    block.metadata.reset();
  }
  w.blocks[id].take_entry(std::move(*entry), w.committed.superblock.generation);
  block.layout.records = block.next.records;
  return {};
}

}  // namespace

Status check_id(WriterCore& w, BlockId id) {
  if (id >= w.blocks.size()) return Status(Code::kUsage, joined_text("no block has ID ", id));
  if (w.blocks[id].is_removed())
    return Status(Code::kUsage, "block " + in_quotes(w.blocks.name(id)) + " was removed");
  return refresh(w, id);
}

Status check_unchanged_elsewhere(const WriterCore& w, BlockId id, std::string_view what) {
  const BlockState& block = w.blocks[id];
  if (!block.committed || !block.body_stays() ||
      !std::ranges::binary_search(w.names.changed, block.committed->order))
    return {};
  return Status(Code::kUsage,
                joined_text("block ", in_quotes(w.blocks.name(id)),
                            " is changed by another rank in this generation; call sync() before "
                            "you ",
                            what));
}

Status check_not_from_hdf5(const WriterCore& w, BlockId id, std::string_view why) {
  if (w.blocks[id].next.kind != Kind::kExtended) return {};
  return Status(Code::kUnsupported, joined_text("block ", in_quotes(w.blocks.name(id)),
                                                " came from HDF5 (kind 6), so ", why));
}

Result<std::optional<BlockId>> known_block(WriterCore& w, std::string_view name) {
  const std::optional<BlockId> id = w.blocks.find(name);
  if (!id) return id;
  const Status status = refresh(w, *id);
  // An unsupported block has an ID too; the error is reported when the block is used.
  if (status.ok() || status.code() == Code::kUnsupported) return id;
  if (status.code() != Code::kNotFound) return status;
  w.blocks.forget_name(*id);
  return std::optional<BlockId>();
}

Result<bool> exists(WriterCore& w, std::string_view name) {
  NMB_ASSIGN(const std::optional<BlockId> known, known_block(w, name));
  if (known) return true;
  if (!w.committed.reader || w.blocks.removed_names.count(name)) return false;
  return w.committed.reader->index().contains(name);
}

Result<BlockId> find_block(WriterCore& w, std::string_view name) {
  NMB_TRY(w.failure);
  NMB_ASSIGN(const std::optional<BlockId> known, known_block(w, name));
  if (known) return *known;
  std::optional<BlockEntry> entry;
  if (w.committed.reader && !w.blocks.removed_names.count(name)) {
    NMB_ASSIGN(entry, w.committed.reader->index().find(name));
  }
  if (!entry)
    return Status(Code::kNotFound, w.file->name(), kNoOffset, "",
                  "found no block " + in_quotes(name));
  // A block that this version cannot read cannot be opened. Other blocks can still be written.
  NMB_TRY(w.committed.reader->check_needs(*entry));
  const BlockId id = w.blocks.add(name);
  w.unexchanged = true;
  w.blocks[id].take_entry(std::move(*entry), w.committed.superblock.generation);
  return id;
}

Result<ClassicHeader> stored_header(WriterCore& w, BlockId id) {
  const BlockState& block = w.blocks[id];
  if (block.committed) {
    NMB_ASSIGN(StoredBlock stored, w.committed.reader->load(*block.committed, false));
    return decode_body(*block.committed, stored.header.records, stored.body, *w.committed.source);
  }
  return decode_classic_header(*block.packed()->body, {.values_follow = false});
}

Status load_definitions(WriterCore& w, BlockId id) {
  BlockState& block = w.blocks[id];
  if (block.metadata) return {};
  NMB_ASSIGN(ClassicHeader header, stored_header(w, id));
  block.metadata = std::make_shared<Metadata>(std::move(header.metadata));
  block.layout = header.layout;
  block.layout.records = block.next.records;
  return {};
}

Result<BlockState*> readable(WriterCore& w, BlockId id) {
  NMB_TRY(w.failure);
  NMB_TRY(check_id(w, id));
  NMB_TRY(load_definitions(w, id));
  return &w.blocks[id];
}

}  // namespace nmb
