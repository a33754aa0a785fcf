// BlockSink: takes the blocks that inputs become.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/reading/input_reader.h"
#include "nmb/bytes.h"
#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

struct BlockName {
  std::string name;
  std::string group;            // its path in the input
  bool has_input_name = false;  // the input's name is part of the block's
};

// Definitions of classic types, valid during the call that gets them, and where the values lie.
struct BlockPart {
  const Metadata& metadata;
  std::vector<std::uint64_t> begins;  // of each variable, in `values`
  std::uint64_t record_size = 0;      // from a variable's record to the next
  std::uint64_t records = 0;
  std::shared_ptr<const ByteSource> values;  // nullptr: there are none
  std::string_view origin{};                 // of them, for other ranks; empty: they cannot open it
  // All values, and what is between them, lie in `values` as they do in a canonical CDF-5 file.
  bool is_laid = false;
  // What is left of a block whose variables became others: inputs may share it.
  bool is_rest = false;
  std::optional<std::uint64_t> samples{};  // those that NMB inputs have recorded
};

// All of a canonical CDF-5 dataset.
inline BlockPart laid_part(const Dataset& dataset) {
  BlockPart part{dataset.metadata, {}, dataset.layout.record_size, dataset.records, dataset.extent};
  for (VarId v = 0; v < dataset.metadata.variable_count(); ++v)
    part.begins.push_back(dataset.metadata.begin(v) - dataset.layout.header_length);
  part.is_laid = true;
  return part;
}

class BlockSink {
 public:
  BlockSink() = default;
  BlockSink(const BlockSink&) = delete;
  BlockSink& operator=(const BlockSink&) = delete;
  virtual ~BlockSink() = default;

  // What comes from now on is of this input.
  virtual void begin_input(std::shared_ptr<const ByteSource> file) = 0;
  // A block as it is, which the call may take apart.
  virtual Status take_whole(const BlockName& name, InputBlock& block) = 0;
  virtual Status take_part(const BlockName& name, BlockPart part) = 0;
};

}  // namespace nmb
