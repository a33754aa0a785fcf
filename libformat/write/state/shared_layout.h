// SharedLayout: the layout of a block and the place of its values, which the primary sends to the
// other ranks that share the block.
#pragma once

#include <cstdint>

#include "state/block_state.h"

namespace nmb {

struct SharedLayout {
  ClassicLayout layout;
  EntryFields fields;
  Digest digest;
  std::uint64_t run_position, run_length;
  bool inline_run;

  static SharedLayout of(const BlockState& block) {
    return {.layout = block.layout,
            .fields = block.next.fields(),
            .digest = block.next.digest,
            .run_position = block.run_position,
            .run_length = block.run_length,
            .inline_run = block.inline_run};
  }
  void put_into(BlockState& block) const {
    block.layout = layout;
    block.next.fields() = fields;
    block.next.digest = digest;
    block.run_position = run_position;
    block.run_length = run_length;
    block.inline_run = inline_run;
  }
};

}  // namespace nmb
