// UnchangedValues: the values of a committed block, if no caller has opened or put any of them (see
// origins/extent_origin.h).
#pragma once

#include <cassert>

#include "origins/put_values.h"

namespace nmb {

class UnchangedValues : public OriginSteps {
 public:
  static constexpr bool kTakesPuts = true;

  Result<FinishedExtent> finish([[maybe_unused]] const FinishContext& context) {
    assert(!context.whole);  // a caller that writes the block again must open its values
    return FinishedExtent{{}, true, {}};
  }
  Result<Counting> count(const CountContext& context) { return count_extent(context); }
};

}  // namespace nmb
