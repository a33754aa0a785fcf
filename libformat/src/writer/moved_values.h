// MovedValues: values that the commit moves from a source to their places (see
// writer/extent_origin.h).
#pragma once

#include <memory>

#include "writer/origin_steps.h"
#include "writer/placement.h"

namespace nmb {

class MovedValues : public OriginSteps {
 public:
  explicit MovedValues(Move move) : move_(std::move(move)) {}

  ValueSpace space(std::uint64_t) const { return {move_.stored_length(), true, true}; }
  void place(std::uint64_t position) { move_.position = position; }
  Move* move() { return &move_; }
  void tap(StatisticsTap::MakeCounter make);
  Result<FinishedExtent> finish(const FinishContext& context);
  // Returns what the tap has counted. Call tap() before the move, and count() after all values were
  // moved.
  Result<Counting> count(const CountContext&) {
    return Counting{tap_->take_counter(), tap_->take_counted()};
  }

 private:
  Result<FinishedExtent> finish_inline(const FinishContext& context);

  Move move_;
  std::unique_ptr<StatisticsTap> tap_;
};

}  // namespace nmb
