// OutputPart: a new block with some of an input's values, and the positions of these values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/classic.h"
#include "model/metadata.h"
#include "sources/value_source.h"
#include "writer/file_writer.h"

namespace nmb {

struct OutputPart {
  BlockId id = 0;
  std::uint32_t source = 0;  // index of the source that has the block's values
  // Offset of each variable in the source. Empty if the source has exactly the block's extent: all
  // values, and the bytes between values, in the block's own layout.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_size = 0;  // distance in bytes between records of a variable in the source
  bool coded = false;             // the values were passed as coded pieces
};

// A source of values for parts.
struct PartSource {
  Source values;
  std::string origin;  // describes the values for other ranks; empty if other ranks cannot open
                       // them
};

// Returns where the values of a block are in its source. metadata and layout belong to the block.
std::vector<ValueRuns> runs_of(const OutputPart& block, const Metadata& metadata,
                               const ClassicLayout& layout);

}  // namespace nmb
