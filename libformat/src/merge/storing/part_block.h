// PartBlock: a new block with some of an input's values, and the places of these values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/classic.h"
#include "nmb/metadata.h"
#include "nmb/writer.h"
#include "values/array_source.h"

namespace nmb {

struct PartBlock {
  BlockId id = 0;
  std::uint32_t source = 0;  // index of the source that has its values
  // Where each variable begins in the source; empty: the source has all values, and the bytes
  // between them, in the same arrangement.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_size = 0;  // distance between records of a variable in the source
  bool coded = false;             // its values were given as coded pieces
};

// The values of parts.
struct PartSource {
  Source values;
  std::string origin;  // describes them for other ranks; empty: other ranks cannot open them
};

// Returns where the values of a block are in its source; metadata and layout are those of the
// block.
std::vector<ValueRuns> runs_of(const PartBlock& block, const Metadata& metadata,
                               const ClassicLayout& layout);

}  // namespace nmb
