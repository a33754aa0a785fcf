// StripeWriter: writes metadata and index to the file. With several ranks, only one of them writes
// to a stripe of the file in a commit (spec/rationale.md, "Aggregators").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/files.h"
#include "writer/aggregation.h"
#include "writer/write_buffer.h"

namespace nmb {

// Each byte is given once, by one rank. Bytes wait until they are passed on to the ranks that
// write. A rank that writes puts those of its own stripes that it has completely, so that no other
// rank has bytes for them, directly into the file. If a rank is alone, all bytes go to `buffer` and
// none wait. Not thread-safe.
class StripeWriter {
 public:
  StripeWriter(Communicator& ranks, OutputFile& file, WriteBuffer& buffer, const Aggregation& how)
      : ranks_(ranks),
        file_(file),
        buffer_(buffer),
        how_(how),
        writes_(how.writes(ranks.rank(), ranks.size())),
        round_(round_bytes(how.writers, ranks.size())) {}

  // Not collective: the waiting bytes may become more than full() allows.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  // Collective: calls step(0) to step(count - 1), which call write_at(); whenever a rank is full,
  // all ranks pass on. Returns the same status on all ranks. count: this rank's own.
  template <class Step>
  Status in_rounds(std::size_t count, Step step);

  // Collective: writes this rank's bytes, whatever their number.
  Status write_all(std::uint64_t offset, std::span<const std::byte> bytes);

  // Collective: afterwards all bytes that waited on any rank are in the file. Bytes between them
  // are written as the file has them, so nobody else may write meanwhile. `status`: this rank's
  // status so far; if one rank has failed, all fail.
  Status pass_on(Status status = {});

 private:
  struct Run {
    std::uint64_t offset, length;
  };
  struct Part {
    std::uint64_t offset;
    std::span<const std::byte> bytes;
  };
  enum Word : int { kDone, kMore, kFailed };

  static std::size_t round_bytes(int writers, int ranks) {
    return std::max(
        kRoundBytes * static_cast<std::size_t>(writers) / static_cast<std::size_t>(ranks),
        kLeastRound);
  }
  bool full() const { return bytes_.size() >= round_; }
  Status write_whole_stripes();
  std::vector<Part> in_file_order() const;  // the waiting bytes
  Status write(const std::vector<Message>& arrived);

  // A rank that writes receives at most this many bytes at a time from all ranks together, or one
  // stripe.
  static constexpr std::size_t kRoundBytes = 8 << 20;
  static constexpr std::size_t kLeastRound = 64 << 10;
  // After each further kPart bytes the writer checks whether the rank is full or has whole stripes.
  static constexpr std::size_t kPart = 128 << 10;
  Communicator& ranks_;
  OutputFile& file_;
  WriteBuffer& buffer_;
  const Aggregation how_;
  const bool writes_;
  const std::size_t round_;  // a rank with this many bytes is full
  // The waiting bytes, in the order of the calls: runs of `bytes_`.
  std::vector<Run> runs_;
  std::vector<std::byte> bytes_;
  std::size_t look_at_ = kPart;  // number of waiting bytes at which whole stripes are searched
                                 // again
};

template <class Step>
Status StripeWriter::in_rounds(std::size_t count, Step step) {
  for (std::size_t i = 0;;) {
    Status status;
    while (status.ok() && i < count && !full()) status = step(i++);
    const Word mine = !status.ok() ? kFailed : i < count ? kMore : kDone;
    NMB_ASSIGN(const Word all,
               ranks_.all_reduce(mine, [](Word a, Word b) { return std::max(a, b); }));
    if (all == kFailed) return ranks_.agree(status);
    if (all == kDone) return {};
    NMB_TRY(pass_on());
  }
}

}  // namespace nmb
