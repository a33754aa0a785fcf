// PutValues: values that the program has put or may put. Committed values stay unchanged, except
// where the program puts new values (see origins/extent_origin.h).
#pragma once

#include <memory>

#include "origins/extent_state.h"
#include "origins/origin_steps.h"
#include "origins/placement.h"

namespace nmb {

class PutValues : public OriginSteps {
 public:
  static constexpr bool kTakesPuts = true;

  PutValues() = default;
  explicit PutValues(std::unique_ptr<ExtentState> extent) : extent_(std::move(extent)) {}
  // Returns nullptr if the program has neither put nor opened any values.
  ExtentState* extent() const { return extent_.get(); }
  std::unique_ptr<ExtentState> take() { return std::move(extent_); }

  ValueSpace space(std::uint64_t extent_length) const {
    if (extent_) return {};
    return {extent_length, true, true};
  }
  PieceForecast forecast(std::uint64_t extent_length, std::uint32_t piece_size) const {
    if (extent_length <= piece_size) return {};
    return {.count = (extent_length + piece_size - 1) / piece_size, .holes = true};
  }
  Result<FinishedExtent> finish(const FinishContext& context);
  Result<Counting> count(const CountContext& context);

 private:
  std::unique_ptr<ExtentState> extent_;
};

// Computes the statistics of the values in an extent.
Result<Counting> count_extent(const CountContext& context);

}  // namespace nmb
