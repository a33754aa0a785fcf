// Sums of stretches of a file (see value_checker.h).
#include "verify/value_checker.h"

#include <algorithm>

#include "extent/piece_codec.h"
#include "parallel/workers.h"
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
  outcome.sum_right = stream.sum() == range.sum;
  if (coded && outcome.sum_right) {
    outcome.decodes = decode_piece(range.codec, piece.first(range.length), range.raw_length).ok();
  }
  return outcome;
}

void ValueChecker::run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell) {
  std::vector<ValueOutcome> outcomes(batch_.size());
  for_each_on_threads(threads_, batch_.size(), [&] {
    return [&, buffer = CopyBuffer()](std::size_t i) mutable {
      const ValueRange& range = batch_[i];
      if (range.external && !range.in_original) file_.account(range.length);
      outcomes[i] = range.external ? check_range(*range.external, range, buffer)
                                   : check_range(file_, range, buffer);
    };
  });
  for (std::size_t i = 0; i < batch_.size(); ++i) tell(batch_[i], outcomes[i]);
  batch_.clear();
}

}  // namespace nmb
