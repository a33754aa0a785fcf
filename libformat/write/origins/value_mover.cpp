#include "origins/value_mover.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "files/copy_buffer.h"
#include "parallel/workers.h"
#include "sources/value_source.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

namespace {

constexpr std::uint64_t kJobBytes = kMoveBuffer;

// A part of a job: bytes of one window of an extent.
struct JobRange {
  Move* move;
  std::uint64_t from, to;  // offsets in the extent, within one window
  std::uint64_t position;  // position of the byte `from` in the output
  std::size_t window;      // index of the window, not counting holes

  void keep_sum(std::uint64_t sum) const { move->sums[window] = sum; }
};
struct Job {
  std::uint64_t position = 0;
  std::uint64_t length = 0;
  std::vector<JobRange> parts;
};

// Gives jobs to the threads by ascending position.
class JobQueue {
 public:
  JobQueue(std::vector<Move*>& moves, std::uint32_t piece_size)
      : moves_(moves), piece_size_(piece_size) {}

  // Gets the next job. Returns false if no job is left.
  bool next(Job* job) {
    std::lock_guard lock(mutex_);
    job->parts.clear();
    job->length = 0;
    while (index_ < moves_.size()) {
      Move& move = *moves_[index_];
      if (hole_ < move.holes.size() && offset_ == move.holes[hole_].begin) {
        skipped_ += move.holes[hole_].length();
        offset_ = move.holes[hole_++].end;
        continue;
      }
      if (offset_ >= move.length) {
        ++index_;
        offset_ = skipped_ = hole_ = window_ = 0;
        continue;
      }
      const std::uint64_t position = move.position + (offset_ - skipped_);
      const bool own_ends = !move.ends.empty();
      const std::uint64_t to =
          own_ends ? move.ends[window_]
                   : std::min(move.length, (offset_ / piece_size_ + 1) * piece_size_);
      if (job->parts.empty()) {
        job->position = position;
      } else if (position - job->position > kJobBytes ||
                 position - (job->position + job->length) >= 8 ||
                 position + (to - offset_) - job->position > kJobBytes) {
        break;
      }
      job->length = position + (to - offset_) - job->position;
      job->parts.push_back({&move, offset_, to, position, window_++});
      offset_ = own_ends ? round_up(to, 8) : to;
    }
    return !job->parts.empty();
  }

 private:
  std::mutex mutex_;
  std::vector<Move*>& moves_;
  std::uint64_t piece_size_;
  // These fields describe the next window: index_ is the index of its move, offset_ is its offset
  // in the extent, and window_ is its own index. The field hole_ is the number of holes before the
  // window, and skipped_ is their total length in bytes.
  std::size_t index_ = 0;
  std::uint64_t offset_ = 0;
  std::size_t hole_ = 0;
  std::size_t window_ = 0;
  std::uint64_t skipped_ = 0;
};

// Returns the source offset for `offset` in an extent, as if the run at `offset` had only one
// element.
std::uint64_t source_of(const Move& move, std::uint64_t offset) {
  const auto run = run_at(move.runs, offset);
  return run == std::span(move.runs).end() ? 0 : run->source_offset + (offset - run->extent_offset);
}

// Moves a window that is larger than the buffer of a job, in several parts.
Status move_large(const JobRange& part, OutputFile& file, CopyBuffer& buffer,
                  const std::atomic<bool>& stop) {
  SumStream stream;
  for (std::uint64_t at = part.from; at < part.to;) {
    const std::uint64_t position = part.position + (at - part.from);
    const auto bytes =
        buffer.room(std::min(part.to - at, kJobBytes), source_of(*part.move, at), position);
    bool stored = false;
    const bool is_there = file.recall(position, bytes);
    if (!is_there) NMB_TRY(read_moved(*part.move, at, bytes, &stored));
    if (part.move->summed) stream.add(bytes);
    if (part.move->tap) NMB_TRY(part.move->tap->take(at, bytes));
    if (part.move->digest) NMB_TRY(part.move->digest->add(at, bytes, stop));
    if (stored) NMB_TRY(file.write_at(position, bytes));
    at += bytes.size();
  }
  if (part.move->summed) part.keep_sum(stream.sum());
  return {};
}

Status run_job(const Job& job, OutputFile& file, CopyBuffer& buffer,
               const std::atomic<bool>& stop) {
  if (job.length > kJobBytes) return move_large(job.parts[0], file, buffer, stop);
  const auto largest = std::ranges::max_element(
      job.parts, {}, [](const JobRange& part) { return part.to - part.from; });
  const auto room = buffer.room(
      job.length, source_of(*largest->move, largest->from) - (largest->position - job.position),
      job.position);
  const bool is_there = file.recall(job.position, room);
  bool stored = false;
  std::uint64_t filled = 0;
  for (const JobRange& part : job.parts) {
    const std::uint64_t at = part.position - job.position;
    auto bytes = room.subspan(at, part.to - part.from);
    if (!is_there) {
      std::memset(room.data() + filled, 0, at - filled);
      NMB_TRY(read_moved(*part.move, part.from, bytes, &stored));
    }
    if (part.move->summed) part.keep_sum(sum_of(bytes));
    if (part.move->tap) NMB_TRY(part.move->tap->take(part.from, bytes));
    if (part.move->digest) NMB_TRY(part.move->digest->add(part.from, bytes, stop));
    filled = at + bytes.size();
  }
  if (!stored) return {};
  return file.write_at(job.position, room);
}

}  // namespace

std::vector<ByteRange> whole_windows(const std::vector<ByteRange>& ranges, std::uint64_t length,
                                     std::uint32_t piece_size) {
  std::vector<ByteRange> out;
  for (std::size_t i = 0; i < ranges.size();) {
    ByteRange range = ranges[i++];
    while (i < ranges.size() && ranges[i].begin == range.end) range.end = ranges[i++].end;
    // Rounding up cannot overflow, because offsets in an extent are less than 2^63.
    range.begin = (range.begin + piece_size - 1) / piece_size * piece_size;
    if (range.end != length) range.end = range.end / piece_size * piece_size;
    if (range.begin < range.end) out.push_back(range);
  }
  return out;
}

Status move_values(std::vector<Move*>& moves, OutputFile& file, std::uint32_t piece_size,
                   const OutputOptions& options) {
  std::uint64_t total = 0, done = 0;
  for (Move* move : moves) {
    total += move->stored_length();
    if (move->summed) move->sums.assign(move->windows(piece_size), 0);
  }
  JobQueue queue(moves, piece_size);
  std::mutex mutex;
  return share_work(options.threads, [&](const std::atomic<bool>& stop) -> Status {
    CopyBuffer buffer(kJobBytes);
    Job job;
    while (!stop.load(std::memory_order_relaxed) && queue.next(&job)) {
      if (options.cancel && options.cancel->load(std::memory_order_relaxed))
        return Status(Code::kIo, "interrupted");
      NMB_TRY(run_job(job, file, buffer, stop));
      if (options.progress) {
        std::lock_guard lock(mutex);
        options.progress(done += job.length, total);
      }
    }
    return {};
  });
}

}  // namespace nmb
