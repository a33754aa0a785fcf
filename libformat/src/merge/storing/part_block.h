// PartBlock: a new block whose values are some of an input's, and where they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/classic.h"
#include "nmb/metadata.h"
#include "nmb/writer.h"

namespace nmb {

struct PartBlock {
  BlockId id = 0;
  std::uint32_t source = 0;  // which of the sources has its values
  // Of each variable, in the source; none: all values, and what is between them, lie there as here.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_size = 0;  // from a variable's record to the next, in the source
  bool coded = false;             // its values were taken as pieces
};

// Where the values of parts lie.
struct PartSource {
  std::shared_ptr<const ByteSource> values;
  std::string origin;  // for other ranks; empty: they cannot open it
};

// Where the values of a block lie in its source; metadata and layout: the block's own.
std::vector<ValueRuns> runs_of(const PartBlock& block, const Metadata& metadata,
                               const ClassicLayout& layout);

}  // namespace nmb
