#include "verify/value_checker.h"

#include <algorithm>
#include <iterator>

#include "extent/piece_codec.h"
#include "files/copy_buffer.h"
#include "parallel/workers.h"
#include "verify/value_ranks.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

static constexpr std::uint64_t kPiece = 1 << 20;

ValueOutcome check_range(const ByteSource& file, const ValueRange& range, CopyBuffer& buffer) {
  ValueOutcome outcome;
  SumStream stream;
  const std::uint64_t padded = range.external ? range.length : round_up(range.length, 8);
  const bool coded = range.codec != PieceCodec::kNone;
  std::span<std::byte> piece;
  for (std::uint64_t done = 0; done < padded;) {
    piece = buffer.room(coded ? padded : std::min(padded - done, kPiece), range.position + done);
    outcome.status = file.read_at(range.position + done, piece);
    if (!outcome.status.ok()) return outcome;
    const std::uint64_t values = std::min<std::uint64_t>(piece.size(), range.length - done);
    stream.add(piece.first(values));
    if (std::size_t bad = first_nonzero(piece.subspan(values)); bad != kAllZero)
      outcome.dirty_padding = range.position + done + values + bad;
    done += piece.size();
  }
  if (stream.sum() != range.sum) outcome.wrong_sum = stream.sum();
  if (coded && !outcome.wrong_sum) {
    outcome.decodes = decode_piece(range.codec, piece.first(range.length), range.raw_length).ok();
  }
  return outcome;
}

void ValueChecker::check_here(const std::vector<ValueRange>& ranges, std::size_t end,
                              std::vector<ValueOutcome>* outcomes) {
  for_each_on_threads(threads_, ranges.size(), [&] {
    return [&, buffer = CopyBuffer()](std::size_t i) mutable {
      const ValueRange& range = ranges[i];
      if (i >= end && !range.external) return;
      if (range.external && !range.in_original) file_.account(range.length);
      (*outcomes)[i] = range.external ? check_range(*range.external, range, buffer)
                                      : check_range(file_, range, buffer);
    };
  });
}

Status ValueChecker::check_by_ranks(const std::vector<ValueRange>& ranges,
                                    std::vector<ValueOutcome>* outcomes) {
  const std::vector<std::size_t> ends = sent_ends(ranges, ranks_->size());
  // The meter also counts the bytes that other ranks read from this file.
  for (std::size_t i = ends.front(); i < ranges.size(); ++i)
    if (!ranges[i].external) file_.account(round_up(ranges[i].length, 8));
  NMB_TRY(deal_values(*ranks_, *file_.path(), ranges, ends));
  check_here(ranges, ends.front(), outcomes);
  return gather_values(*ranks_, ranges, ends, outcomes);
}

std::vector<ValueOutcome> ValueChecker::check(const std::vector<ValueRange>& ranges) {
  std::vector<ValueOutcome> outcomes(ranges.size());
  std::uint64_t bytes = 0;
  for (const ValueRange& range : ranges) bytes += range.external ? 0 : range.length;
  if (ranks_ && file_.path() && bytes >= kLeastSent) {
    if (const Status status = check_by_ranks(ranges, &outcomes); !status.ok())
      for (ValueOutcome& outcome : outcomes) outcome.status = status;
  } else {
    check_here(ranges, ranges.size(), &outcomes);
  }
  return outcomes;
}

// Returns the outcomes of the first ranges of the batch that an earlier check has checked.
std::vector<ValueOutcome> ValueChecker::take_known() {
  const CheckedValues& earlier = options_.checked;
  std::vector<ValueOutcome> known(
      std::min<std::uint64_t>(batch_.size(), earlier.ranges - std::min(earlier.ranges, checked_)));
  for (; next_fault_ < earlier.faults.size(); ++next_fault_) {
    const ValueFault& fault = earlier.faults[next_fault_];
    if (fault.range < checked_) continue;
    if (fault.range - checked_ >= known.size()) break;
    ValueOutcome& outcome = known[fault.range - checked_];
    outcome.wrong_sum = fault.wrong_sum;
    outcome.decodes = fault.decodes;
    outcome.dirty_padding = fault.dirty_padding;
  }
  if (!known.empty() && checked_ + known.size() == earlier.ranges)
    file_.go_on_at(earlier.bytes_read);
  return known;
}

// Tells the caller of verify() how far the values have been checked.
void ValueChecker::note_checked(std::size_t known, const std::vector<ValueOutcome>& outcomes) {
  has_unread_ = has_unread_ ||
                std::ranges::any_of(
                    outcomes, [](const ValueOutcome& outcome) { return !outcome.status.ok(); }) ||
                std::ranges::any_of(batch_, [](const ValueRange& range) {
                  return range.external && !range.in_original;
                });
  if (!options_.on_checked || has_unread_ || known == outcomes.size()) return;
  CheckedValues checked{checked_ + outcomes.size(), file_.bytes(), {}};
  for (std::size_t i = known; i < outcomes.size(); ++i) {
    const ValueOutcome& outcome = outcomes[i];
    if (outcome.wrong_sum || !outcome.decodes || outcome.dirty_padding)
      checked.faults.push_back(
          {checked_ + i, outcome.wrong_sum, outcome.decodes, outcome.dirty_padding});
  }
  options_.on_checked(checked);
}

void ValueChecker::run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell) {
  std::vector<ValueOutcome> outcomes = take_known();
  const std::size_t known = outcomes.size();
  const std::vector<ValueRange> left(batch_.begin() + static_cast<std::ptrdiff_t>(known),
                                     batch_.end());
  std::ranges::move(check(left), std::back_inserter(outcomes));
  note_checked(known, outcomes);
  checked_ += outcomes.size();
  for (std::size_t i = 0; i < batch_.size(); ++i) tell(batch_[i], outcomes[i]);
  batch_.clear();
}

}  // namespace nmb
