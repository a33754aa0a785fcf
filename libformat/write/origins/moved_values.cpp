#include "origins/moved_values.h"

#include <algorithm>

#include "wire/checked.h"
#include "wire/hash.h"

namespace nmb {

void MovedValues::tap(StatisticsTap::MakeCounter make) {
  tap_ = std::make_unique<StatisticsTap>(std::move(make), move_.stored_length(), move_.holes);
  move_.tap = tap_.get();
  // Keeps the move on this rank, because the tap cannot count bytes that another rank moves.
  move_.origin.clear();
}

void MovedValues::digest(std::unique_ptr<OrderedDigest> digest) {
  digest_ = std::move(digest);
  move_.digest = digest_.get();
  move_.origin.clear();  // another rank could not add its bytes to the digest
}

// Reads inline values. Their sum is part of the stamp, so they must be read before their block is
// written.
Result<FinishedExtent> MovedValues::finish_inline(const FinishContext& context) {
  FinishedExtent out;
  std::uint64_t sum = kWidestSum;
  if (!context.dry_run) {
    out.inline_values.resize(round_up(context.extent_length, 8));
    const auto stored = std::span(out.inline_values).first(context.extent_length);
    NMB_TRY(read_moved(move_, 0, stored));
    sum = sum_of(stored);
    if (tap_) NMB_TRY(tap_->take(0, stored));
    if (digest_) NMB_TRY(digest_->add(0, stored, false));
  }
  out.pieces = {{0, context.extent_length, false, context.run_position, sum}};
  return out;
}

Result<FinishedExtent> MovedValues::finish(const FinishContext& context) {
  if (context.run_is_inline) return finish_inline(context);
  FinishedExtent out;
  auto hole = move_.holes.begin();
  std::uint64_t stored = 0;
  for (std::uint64_t at = 0; at < context.extent_length; at = out.pieces.back().end()) {
    if (hole != move_.holes.end() && at == hole->begin) {
      out.pieces.push_back({at, hole->length(), true, 0, 0});
      ++hole;
      continue;
    }
    const std::uint64_t length =
        std::min<std::uint64_t>(context.piece_size, context.extent_length - at);
    out.pieces.push_back({at, length, false, context.run_position + stored,
                          move_.sums[stored / context.piece_size]});
    stored += length;
  }
  return out;
}

}  // namespace nmb
