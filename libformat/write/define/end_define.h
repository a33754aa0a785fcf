// end_define(): chooses the rank that keeps each block, encodes bodies and places blocks
// (spec/writer.md, section 5.6).
#pragma once

#include <vector>

#include "state/writer_core.h"

namespace nmb {

// Collective.
class EndDefine {
 public:
  explicit EndDefine(WriterCore& writer) : w_(writer) {}
  Status run();

 private:
  Status choose_file_id(const std::vector<BlockId>& ids);
  Status number_blocks(const std::vector<BlockId>& ids);
  Status place(const std::vector<BlockId>& ids);
  Status keep_extents(const std::vector<BlockId>& ids);
  Status carry_values(BlockId id);
  void forget_others(const std::vector<BlockId>& ids);

  WriterCore& w_;
  // Upper limit for the file position at which a value that this call places begins.
  std::uint64_t ahead_ = 0;
};

}  // namespace nmb
