// PlannedInput: the facts, other than blocks, that a merge keeps about an input it has read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "merge/reading/input_reader.h"
#include "nmb/status.h"

namespace nmb {

struct PlannedInput {
  std::size_t index = 0;   // position in the list of inputs
  Status status{};         // an error means that the input cannot be used
  bool is_opened = false;  // if is_opened is false, the members below are not set
  std::uint64_t size = 0;
  std::vector<std::string> provenance{};  // the provenance texts in the input
  InputExtras extras{};                   // if another rank read the input, the rows of its blocks
                                          // are missing
};

}  // namespace nmb
