// UnchangedValues: of a committed block, nobody has looked at them (see writer/extent_origin.h).
#pragma once

#include <cassert>

#include "writer/put_values.h"

namespace nmb {

class UnchangedValues : public OriginSteps {
 public:
  static constexpr bool kTakesPuts = true;

  Result<FinishedExtent> finish([[maybe_unused]] const FinishContext& context) {
    assert(!context.whole);  // who writes a block anew looks at its values
    return FinishedExtent{{}, true, {}};
  }
  Result<Counting> count(const CountContext& context) { return count_extent(context); }
};

}  // namespace nmb
