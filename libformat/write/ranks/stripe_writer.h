// StripeWriter: writes metadata and the index to the file. With several ranks, each stripe of the
// file is written by one rank only (spec/rationale.md, "Aggregators").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "files/files.h"
#include "parallel/communicator.h"
#include "parallel/outbox.h"
#include "ranks/aggregation.h"
#include "ranks/write_buffer.h"

namespace nmb {

// Each byte must be passed to write_at() only once, by one rank. The bytes stay in memory until
// pass_on() sends them to the ranks that write the stripes. A rank that has all bytes of one of its
// own stripes writes this stripe directly to the file. A single rank passes all bytes directly to
// `buffer`. Not thread-safe.
class StripeWriter {
 public:
  StripeWriter(Communicator& ranks, OutputFile& file, WriteBuffer& buffer, const Aggregation& how)
      : ranks_(ranks),
        file_(file),
        buffer_(buffer),
        how_(how),
        writes_(how.writes(ranks.rank(), ranks.size())),
        round_(round_bytes(how.writers, ranks.size())) {}

  // Writes bytes. Not collective. This call accepts bytes even if full() is true.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  // Calls step(0) to step(count - 1), which call write_at(). When the memory of one rank is full,
  // all ranks call pass_on(). Collective. Returns the same status on all ranks. count: the number
  // of steps of this rank.
  template <class Step>
  Status in_rounds(std::size_t count, Step step) {
    return run_rounds(count, step).status();
  }
  // Works like in_rounds() and then pass_on().
  template <class Step>
  Status write_in_rounds(std::size_t count, Step step) {
    NMB_ASSIGN(const bool any, run_rounds(count, step));
    return any ? pass_on() : Status();
  }

  // Writes bytes of this rank, and passes them on as often as its memory is full. Collective.
  Status write_all(std::uint64_t offset, std::span<const std::byte> bytes);

  // Writes all bytes that wait on any rank to the file. Collective. Bytes in small gaps between the
  // written bytes are read from the file and written again, so nobody else may write to the gaps
  // meanwhile. `status`: this rank's status so far. If a rank has failed, the call fails on all
  // ranks.
  Status pass_on(Status status = {});
  // Writes the bytes that wait on this rank, if no other rank has any. Not collective.
  Status write_alone();

 private:
  struct WaitingRange {
    std::uint64_t offset, length;
  };
  struct FileWrite {
    std::uint64_t offset;
    std::span<const std::byte> bytes;

    template <class Fields>
    friend void fields(Fields& all, FileWrite& part) {
      all(part.offset, part.bytes);
    }
  };
  // kEmpty: done, and no bytes wait.
  enum RoundState : int { kEmpty, kDone, kMore, kFailed };

  static std::size_t round_bytes(int writers, int ranks) {
    return std::max(
        kRoundBytes * static_cast<std::size_t>(writers) / static_cast<std::size_t>(ranks),
        kLeastRound);
  }
  // Returns whether bytes wait on any rank.
  template <class Step>
  Result<bool> run_rounds(std::size_t count, Step& step);
  bool full() const { return bytes_.size() >= round_; }
  Status write_whole_stripes();
  std::vector<FileWrite> in_file_order() const;  // the waiting bytes
  Status write(const Inbox<FileWrite>& arrived);

  // Largest number of bytes that a writing rank receives in one round from all ranks together. If
  // one stripe is longer than this, the rank receives one stripe.
  static constexpr std::size_t kRoundBytes = 8 << 20;
  static constexpr std::size_t kLeastRound = 64 << 10;
  // Number of bytes after which the writer searches for whole stripes again, and after which
  // write_all() checks whether full() is true.
  static constexpr std::size_t kPart = 128 << 10;
  Communicator& ranks_;
  OutputFile& file_;
  WriteBuffer& buffer_;
  const Aggregation how_;
  const bool writes_;
  const std::size_t round_;  // number of waiting bytes at which full() becomes true
  // The waiting bytes, in the order of the write_at() calls. `runs_` has the file position and
  // length of each run of these bytes.
  std::vector<WaitingRange> runs_;
  std::vector<std::byte> bytes_;
  // Number of waiting bytes at which the writer searches for whole stripes again.
  std::size_t look_at_ = kPart;
};

template <class Step>
Result<bool> StripeWriter::run_rounds(std::size_t count, Step& step) {
  for (std::size_t i = 0;;) {
    Status status;
    while (status.ok() && i < count && !full()) status = step(i++);
    const RoundState mine = !status.ok()     ? kFailed
                            : i < count      ? kMore
                            : bytes_.empty() ? kEmpty
                                             : kDone;
    NMB_ASSIGN(const RoundState all,
               ranks_.all_reduce(mine, [](RoundState a, RoundState b) { return std::max(a, b); }));
    if (all == kFailed) return ranks_.agree(status);
    if (all <= kDone) return all == kDone;
    NMB_TRY(pass_on());
  }
}

}  // namespace nmb
