// PlannedInput: what a merge knows of an input beside its blocks when it has read it.
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
  Status status{};         // a failure: it cannot be used
  bool is_opened = false;  // else what follows is not known
  std::uint64_t size = 0;
  std::vector<std::string> provenance{};  // what it tells of its making
  InputExtras extras{};                   // of another rank's: rows that tell of no block
};

}  // namespace nmb
