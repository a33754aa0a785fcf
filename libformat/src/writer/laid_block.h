// LaidBlock: the layout of a block and the place of its values. The keeper sends a LaidBlock to the
// other ranks that share the block.
#pragma once

#include <cstdint>

#include "writer/block_state.h"

namespace nmb {

struct LaidBlock {
  ClassicLayout layout;
  BlockCounts counts;
  Digest digest;
  std::uint64_t order, extent_length, run_position, run_length;
  bool inline_run;

  static LaidBlock of(const BlockState& block) {
    const NextEntry& next = block.next;
    return {block.layout,       next.counts(),      next.digest,      next.order,
            next.extent_length, block.run_position, block.run_length, block.inline_run};
  }
  void put_into(BlockState& block) const {
    block.layout = layout;
    block.next.counts() = counts;
    block.next.digest = digest;
    block.next.order = order;
    block.next.extent_length = extent_length;
    block.run_position = run_position;
    block.run_length = run_length;
    block.inline_run = inline_run;
  }
};

}  // namespace nmb
