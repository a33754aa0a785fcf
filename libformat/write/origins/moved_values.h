// MovedValues: values that the commit moves from a source to their places (see
// origins/extent_origin.h).
#pragma once

#include <memory>

#include "origins/origin_steps.h"
#include "origins/placement.h"

namespace nmb {

class MovedValues : public OriginSteps {
 public:
  explicit MovedValues(Move move) : move_(std::move(move)) {}

  ValueSpace space(std::uint64_t) const { return {move_.stored_length(), true, true}; }
  PieceForecast forecast(std::uint64_t extent_length, std::uint32_t piece_size) const {
    if (extent_length <= piece_size && move_.holes.empty()) return {};
    return {.count = move_.windows(piece_size) + move_.holes.size(), .holes = !move_.holes.empty()};
  }
  void place(std::uint64_t position) { move_.position = position; }
  Move* move() { return &move_; }
  void tap(StatisticsTap::MakeCounter make);
  // Computes digests of all bytes while the values are moved. The extent must not have holes.
  void digest(std::unique_ptr<OrderedDigest> digest);
  // Returns nullptr if digest() was not called.
  const OrderedDigest* digest() const { return digest_.get(); }
  Result<FinishedExtent> finish(const FinishContext& context);
  // Returns the results of the StatisticsTap. Call tap() before the values are moved, and count()
  // after all values were moved.
  Result<Counting> count(const CountContext&) {
    return Counting{tap_->take_counter(), tap_->take_counted()};
  }

 private:
  Result<FinishedExtent> finish_inline(const FinishContext& context);

  Move move_;
  std::unique_ptr<StatisticsTap> tap_;
  std::unique_ptr<OrderedDigest> digest_;
};

}  // namespace nmb
