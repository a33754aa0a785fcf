#include "define/global_ids.h"

#include <algorithm>

#include "state/stored_blocks.h"

namespace nmb {

Result<std::uint64_t> global_id(WriterCore& w, BlockId id) {
  NMB_TRY(w.failure);
  NMB_TRY(check_id(w, id));
  if (w.define_mode)
    return Status(Code::kUsage,
                  "global_id() is not allowed in define mode; call end_define() first");
  if (!w.ranks.is_alone()) {
    const BlockState& block = w.blocks[id];
    const bool comes = !block.committed || block.is_renamed();
    if (!comes && w.names.move)
      return Status(Code::kUsage,
                    "global_id() of a committed block is not allowed while ranks define, remove or "
                    "rename blocks; call sync() first");
    std::uint64_t committed = 0;
    if (w.committed.reader) {
      NMB_ASSIGN(committed, w.committed.reader->index().rank_of(w.blocks.name(id)));
    }
    return comes ? committed + static_cast<std::uint64_t>(block.names_ahead) : committed;
  }
  const auto name_of = [&](BlockId b) { return w.blocks.name(b); };
  if (w.blocks.by_name.empty()) {
    for (BlockId b = 0; b < w.blocks.size(); ++b)
      if (!w.blocks[b].is_removed() && (w.blocks[b].is_new() || w.blocks[b].is_renamed()))
        w.blocks.by_name.push_back(b);
    std::ranges::sort(w.blocks.by_name, {}, name_of);
  }
  const std::string_view name = w.blocks.name(id);
  auto it = std::ranges::lower_bound(w.blocks.by_name, name, {}, name_of);
  std::uint64_t rank = static_cast<std::uint64_t>(it - w.blocks.by_name.begin());
  if (w.committed.reader) {
    NMB_ASSIGN(std::uint64_t committed, w.committed.reader->index().rank_of(name));
    rank += committed;
    rank -= static_cast<std::uint64_t>(
        std::distance(w.blocks.removed_names.begin(), w.blocks.removed_names.lower_bound(name)));
  }
  return rank;
}

}  // namespace nmb
