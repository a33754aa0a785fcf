// Computes sums of ranges of a file (see value_checker.h).
#include "verify/value_checker.h"

#include <algorithm>

#include "format/extent/piece_codec.h"
#include "parallel/workers.h"
#include "verify/value_ranks.h"
#include "wire/checked.h"
#include "wire/copy_buffer.h"
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

void ValueChecker::check_here(std::size_t end, std::vector<ValueOutcome>* outcomes) {
  for_each_on_threads(threads_, batch_.size(), [&] {
    return [&, buffer = CopyBuffer()](std::size_t i) mutable {
      const ValueRange& range = batch_[i];
      if (i >= end && !range.external) return;
      if (range.external && !range.in_original) file_.account(range.length);
      (*outcomes)[i] = range.external ? check_range(*range.external, range, buffer)
                                      : check_range(file_, range, buffer);
    };
  });
}

Status ValueChecker::check_by_ranks(std::vector<ValueOutcome>* outcomes) {
  const std::vector<std::size_t> ends = dealt_ends(batch_, ranks_->size());
  // The meter also counts the bytes that other ranks read from this file.
  for (std::size_t i = ends.front(); i < batch_.size(); ++i)
    if (!batch_[i].external) file_.account(round_up(batch_[i].length, 8));
  NMB_TRY(deal_values(*ranks_, *file_.path(), batch_, ends));
  check_here(ends.front(), outcomes);
  return gather_values(*ranks_, batch_, ends, outcomes);
}

void ValueChecker::run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell) {
  std::vector<ValueOutcome> outcomes(batch_.size());
  std::uint64_t bytes = 0;
  for (const ValueRange& range : batch_) bytes += range.external ? 0 : range.length;
  if (ranks_ && file_.path() && bytes >= kLeastDealt) {
    if (const Status status = check_by_ranks(&outcomes); !status.ok())
      for (ValueOutcome& outcome : outcomes) outcome.status = status;
  } else {
    check_here(batch_.size(), &outcomes);
  }
  for (std::size_t i = 0; i < batch_.size(); ++i) tell(batch_[i], outcomes[i]);
  batch_.clear();
}

}  // namespace nmb
