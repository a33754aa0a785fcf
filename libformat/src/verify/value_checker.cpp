// Sums of stretches of a file (see value_checker.h).
#include "verify/value_checker.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

static constexpr std::uint64_t kPiece = 1 << 20;

ValueOutcome check_range(const ByteSource& file, const ValueRange& range,
                         std::vector<std::byte>& buffer) {
  ValueOutcome outcome;
  SumStream stream;
  const std::uint64_t padded = round_up(range.length, 8);
  buffer.resize(std::min(padded, kPiece));
  for (std::uint64_t done = 0; done < padded;) {
    auto piece = std::span(buffer).first(std::min(padded - done, kPiece));
    outcome.status = file.read_at(range.position + done, piece);
    if (!outcome.status.ok()) return outcome;
    const std::uint64_t values = std::min<std::uint64_t>(piece.size(), range.length - done);
    stream.add(piece.first(values));
    if (std::size_t bad = first_nonzero(piece.subspan(values)); bad != kAllZero)
      outcome.dirty_padding = range.position + done + values + bad;
    done += piece.size();
  }
  outcome.sum_right = stream.sum() == range.sum;
  return outcome;
}

void ValueChecker::run(const std::function<void(const ValueRange&, const ValueOutcome&)>& tell) {
  std::vector<ValueOutcome> outcomes(batch_.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    std::vector<std::byte> buffer;
    for (std::size_t i; (i = next++) < batch_.size();)
      outcomes[i] = check_range(file_, batch_[i], buffer);
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min<std::size_t>(std::max(threads_, 1u), batch_.size());
    try {
      for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads to be had: those that there are do the work.
    }
    work();
  }
  for (std::size_t i = 0; i < batch_.size(); ++i) tell(batch_[i], outcomes[i]);
  batch_.clear();
}

}  // namespace nmb
