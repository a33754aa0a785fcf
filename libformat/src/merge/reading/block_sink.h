// BlockSink: receives the blocks that are made from inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/reading/input_reader.h"
#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "values/array_source.h"

namespace nmb {

struct BlockName {
  std::string name;
  std::string group;            // its path in the input
  bool has_input_name = false;  // the block's name contains the input's name
};

// Definitions of classic types, which are valid during the call that gets them, and the place of
// the values.
struct BlockPart {
  const Metadata& metadata;
  std::vector<std::uint64_t> begins;  // where each variable begins in `values`
  std::uint64_t record_size = 0;      // distance from one record of a variable to the next
  std::uint64_t records = 0;
  Source values;              // nullptr: there are none
  std::string_view origin{};  // describes the values for other ranks; empty: other
                              // ranks cannot open them
  // `values` has all values, and the bytes between them, arranged as in a canonical CDF-5 file.
  bool is_laid = false;
  // The rest of a block whose variables became other blocks; several inputs may share it.
  bool is_rest = false;
  std::optional<std::uint64_t> samples{};  // the samples that an NMB input has recorded
};

// Returns all of a canonical CDF-5 dataset as a part.
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

  // All calls after this one are for blocks of this input.
  virtual void begin_input(Source file) = 0;
  // Takes a block unchanged; the call may move from it.
  virtual Status take_whole(const BlockName& name, InputBlock& block) = 0;
  virtual Status take_part(const BlockName& name, BlockPart part) = 0;
};

}  // namespace nmb
