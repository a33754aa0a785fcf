// InputOutcome: the facts that a merge keeps about an input after it has read the input. The blocks
// of the input are not included.
#pragma once

#include <cstddef>
#include <cstdint>

#include "merge/reading/input_extras.h"
#include "wire/failure.h"

namespace nmb {

struct InputOutcome {
  std::size_t index = 0;   // position in the list of inputs
  Status status{};         // an error means that the input cannot be used
  bool is_opened = false;  // if is_opened is false, the members below are not set
  std::uint64_t size = 0;
  InputExtras extras{};  // if another rank read the input, the rows of its blocks
                         // are missing
};

}  // namespace nmb
