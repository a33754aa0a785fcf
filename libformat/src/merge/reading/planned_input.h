// PlannedInput: what a merge knows of an input, besides its blocks, after reading it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "merge/reading/input_reader.h"
#include "nmb/status.h"

namespace nmb {

struct PlannedInput {
  std::size_t index = 0;   // in the list of inputs
  Status status{};         // a failure: the input cannot be used
  bool is_opened = false;  // otherwise the members below are not known
  std::uint64_t size = 0;
  std::vector<std::string> provenance{};  // the provenance that it contains
  InputExtras extras{};                   // of an input of another rank: rows without those of
                                          // blocks
};

}  // namespace nmb
