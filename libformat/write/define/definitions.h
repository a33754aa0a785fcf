// Definitions: defines, changes, renames and removes blocks in define mode (spec/format.md,
// sections 7 and 8).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "state/writer_core.h"

namespace nmb {

class Definitions {
 public:
  explicit Definitions(WriterCore& writer) : w_(writer) {}

  Result<BlockId> define_block(std::string_view name, const Metadata* definitions = nullptr,
                               Metadata::Names names = Metadata::Names::kNew);
  // Returns a block whose definitions may be changed.
  Result<BlockState*> defining(BlockId id);
  // The fast path of defining() for new blocks: returns the block if it was defined since the last
  // end_define() and is not packed, else nullptr.
  BlockState* defining_new(BlockId id) {
    if (!w_.define_mode || !w_.failure.ok() || id >= w_.blocks.size()) return nullptr;
    BlockState& block = w_.blocks[id];
    return block.stage == BlockStage::kDefined && !block.packed() ? &block : nullptr;
  }
  // Adds a dimension or variable to a block's definitions `to`.
  Result<DimId> def_dim(BlockId id, Metadata& to, std::string_view name, std::uint64_t length) {
    return w_.blocks.is_newest(id) ? w_.blocks.names_like.def_dim(to, name, length)
                                   : to.def_dim(name, length);
  }
  Result<VarId> def_var(BlockId id, Metadata& to, std::string_view name, Type type,
                        std::span<const DimId> dimensions) {
    return w_.blocks.is_newest(id) ? w_.blocks.names_like.def_var(to, name, type, dimensions)
                                   : to.def_var(name, type, dimensions);
  }
  Status put_att(BlockId id, VarId variable, std::string_view name, Type type,
                 std::span<const std::byte> values);
  Status set_tag(BlockId id, std::string_view name, TagValue value);
  Status remove_block(BlockId id);
  Status rename_block(BlockId id, std::string_view name);
  // Gives a block the definitions `next` (see FileWriter::redefine_block()).
  Status redefine_block(BlockId id, const Metadata& next, Kind kind);
  Status redefine_block(BlockId id, std::shared_ptr<Metadata> next, Kind kind);
  // Takes back all definitions since redefine(), so that end_define() ends define mode without
  // them. check_discard() fails if that is not possible, and changes nothing.
  Status check_discard() const;
  void discard();
  // Returns to define mode. Collective.
  Status redefine();

 private:
  Status start_edit(BlockId id);
  Result<bool> has_missing(const OldContent& old, VarId variable);
  Status check_fill_may_change(const OldContent& old, VarId variable);
  Status check_not_shared(BlockId id) const;
  void retire_header(BlockId id, EntryChange entry_change);

  WriterCore& w_;
};

Status outside_define_mode();

}  // namespace nmb
