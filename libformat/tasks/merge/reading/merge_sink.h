// MergeSink: receives the blocks that are made from inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/reading/input_block.h"
#include "model/dataset.h"
#include "model/metadata.h"
#include "sources/value_source.h"
#include "wire/failure.h"

namespace nmb {

// The text of one capture of a kPrefix expression (BlockRule::By) in the names of a part's
// variables.
struct NameCapture {
  std::optional<std::string> text;  // nullopt if the capture is not part of the match
  bool differs = false;             // whether the variables have different texts
};

struct OutputName {
  std::string name;
  std::string group;            // the block's path in the input
  bool has_input_name = false;  // the block's name contains the input's name
};

// The definitions of a block and the location of the block's values. The definitions have only
// classic types. The definitions are valid during the call that receives them.
struct InputPart {
  const Metadata& metadata;
  std::vector<std::uint64_t> begins;  // offset of each variable in `values`
  std::uint64_t record_size = 0;      // distance in bytes between records of a variable
  std::uint64_t records = 0;
  Source values;              // nullptr if there are no values
  std::string_view origin{};  // describes the values for other ranks; empty if other ranks cannot
                              // open them
  // Whether `values` has all values, and the bytes between them, in the layout of a canonical CDF-5
  // file.
  bool is_laid = false;
  // Whether this part is the remainder of a block after variables were moved to other blocks.
  // Several inputs may share such a remainder.
  bool is_rest = false;
  std::optional<std::uint64_t> samples{};  // number of samples that is recorded in an NMB input
  // For a part of a divided dataset: the dataset, and captures that tags need.
  const Metadata* divided = nullptr;
  std::vector<NameCapture> captures{};
};

// Returns a part that has the whole of a canonical CDF-5 dataset.
inline InputPart laid_part(const Dataset& dataset) {
  InputPart part{dataset.metadata, {}, dataset.layout.record_size, dataset.records, dataset.extent};
  for (VarId v = 0; v < dataset.metadata.variable_count(); ++v)
    part.begins.push_back(dataset.metadata.begin(v) - dataset.layout.header_length);
  part.is_laid = true;
  return part;
}

class MergeSink {
 public:
  MergeSink() = default;
  MergeSink(const MergeSink&) = delete;
  MergeSink& operator=(const MergeSink&) = delete;
  virtual ~MergeSink() = default;

  // Begins an input: all calls after this one pass blocks of this input.
  virtual void begin_input(Source file) = 0;
  // Takes a block unchanged. The function may move members out of `block`.
  virtual Status take_whole(const OutputName& name, InputBlock& block) = 0;
  virtual Status take_part(const OutputName& name, InputPart part) = 0;
};

}  // namespace nmb
