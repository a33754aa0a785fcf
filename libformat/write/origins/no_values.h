// NoValues: the origin of a packed block whose extent is a hole (see origins/extent_origin.h).
#pragma once

#include "origins/origin_steps.h"

namespace nmb {

class NoValues : public OriginSteps {
 public:
  Result<FinishedExtent> finish(const FinishContext&) { return FinishedExtent(); }
  Result<Counting> count(const CountContext& context) {
    NMB_ASSIGN(std::unique_ptr<ExtentCounter> counter, context.make_counter());
    counter->add_hole(0, context.extent_length);
    return Counting{std::move(counter), {}};
  }
};

}  // namespace nmb
