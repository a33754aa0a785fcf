#include "origins/move_sharing.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "parallel/outbox.h"
#include "wire/bytes.h"

namespace nmb {

// The fields that another rank needs to perform a move.
template <class Fields>
void fields(Fields& all, Move& move) {
  all(move.origin, move.length, move.position, move.runs, move.holes);
}

namespace {

// Cuts a run to the bytes [from, to) of the extent, and adds the result to *out. The extent offsets
// in *out are relative to `from`.
void clip(const ValueRuns& run, std::uint64_t from, std::uint64_t to, std::vector<ValueRuns>* out) {
  const std::uint64_t stride = run.count > 1 ? run.extent_stride : run.length;
  if (run.extent_offset >= to) return;
  // Finds the elements of the run that end after `from` and begin before `to`.
  std::uint64_t first = 0;
  if (from >= run.extent_offset + run.length)
    first = (from - run.extent_offset - run.length) / stride + 1;
  const std::uint64_t last = std::min(run.count, (to - 1 - run.extent_offset) / stride + 1);
  auto add = [&](std::uint64_t i, std::uint64_t count) {
    const std::uint64_t begin = run.extent_offset + i * run.extent_stride;
    const std::uint64_t cut = from > begin ? from - begin : 0;
    const std::uint64_t length = std::min(run.length, to - begin) - cut;
    out->push_back({run.source_offset + i * run.source_stride + cut, run.source_stride,
                    begin + cut - from, run.extent_stride, length, count});
  };
  // Only the first and the last element may be cut.
  if (first < last) add(first, 1);
  if (first + 2 < last) add(first + 1, last - first - 2);
  if (first + 1 < last) add(last - 1, 1);
}

// A part of one of this rank's moves, which rank `to` performs.
struct Assignment {
  int to;
  Move* move;
  // offset of the part from the first stored byte of the move
  std::uint64_t from;
  Move part;
};

class MoveSharing {
 public:
  MoveSharing(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
              std::uint32_t piece_size, const FileWriterOptions& options)
      : ranks_(ranks), moves_(moves), file_(file), piece_size_(piece_size), options_(options) {}

  Status run(Status status) {
    auto move_own = [&] {
      if (status.ok()) status = move_values(moves_, file_, piece_size_, options_);
      return ranks_.agree(status);
    };
    if (ranks_.size() == 1 || !options_.open_values) return move_own();
    struct Load {
      std::uint64_t all, most;
      bool failed;
    };
    std::uint64_t own = 0;
    for (const Move* move : moves_) own += move->stored_length();
    NMB_ASSIGN(const Load load,
               ranks_.all_reduce(Load{own, own, !status.ok()}, [](Load a, const Load& b) {
                 return Load{a.all + b.all, std::max(a.most, b.most), a.failed || b.failed};
               }));
    if (load.failed) return ranks_.agree(status);
    const std::uint64_t share = load.all / static_cast<std::uint64_t>(ranks_.size());
    // Sharing is not worthwhile for fewer bytes than this, because it costs messages.
    const std::uint64_t least = std::max<std::uint64_t>(share / 16, std::uint64_t{4} * piece_size_);
    if (load.most < share + least) return move_own();
    NMB_ASSIGN(const std::vector<RankShare> given, divide_surplus(own, share));
    assign_windows(given);
    const Status narrowed = narrow_origins();
    NMB_ASSIGN(Inbox<Move> shared, send_assignments());
    NMB_TRY(ranks_.agree(narrowed.ok() ? move_all(shared) : narrowed));
    return return_sums(shared);
  }

 private:
  struct RankShare {
    int rank;
    std::uint64_t bytes;
  };
  using Sums = std::vector<std::uint64_t>;

  // Determines how many bytes of this rank's surplus each other rank takes. The surplus bytes of
  // all ranks, in the order of ranks, form the sequence of given bytes. The free capacity of all
  // ranks, in the same order, forms the sequence of taken bytes. Given byte i goes to the rank that
  // takes byte i. Each rank compares only one section of the two sequences.
  Result<std::vector<RankShare>> divide_surplus(std::uint64_t own, std::uint64_t share) {
    struct Imbalance {
      std::uint64_t above, below;
    };
    Imbalance mine{0, own < share ? share - own : 0};
    if (own > share) {
      for (const Move* move : moves_)
        if (!move->origin.empty()) mine.above += move->stored_length();
      mine.above = std::min(mine.above, own - share);
    }
    const auto sum = [](const Imbalance& a, const Imbalance& b) {
      return Imbalance{a.above + b.above, a.below + b.below};
    };
    NMB_ASSIGN(const Imbalance before, ranks_.scan_before(mine, Imbalance{}, sum));
    NMB_ASSIGN(const Imbalance all, ranks_.broadcast_value(ranks_.size() - 1, sum(before, mine)));
    const std::uint64_t line = std::min(all.above, all.below);
    if (line == 0) return std::vector<RankShare>();
    const auto ranks = static_cast<std::uint64_t>(ranks_.size());
    const std::uint64_t width = (line + ranks - 1) / ranks;
    struct PositionRange {
      std::uint64_t from, to;
      bool gives;
    };
    Outbox<PositionRange> sections;
    const auto send = [&](std::uint64_t from, std::uint64_t bytes, bool gives) {
      const std::uint64_t to = std::min(from + bytes, line);
      while (from < to) {
        const std::uint64_t end = std::min(to, (from / width + 1) * width);
        sections.add(static_cast<int>(from / width), {from, end, gives});
        from = end;
      }
    };
    send(before.above, mine.above, true);
    send(before.below, mine.below, false);
    NMB_ASSIGN(const Inbox<PositionRange> arrived, exchange(ranks_, sections));
    struct RankSection {
      PositionRange at;
      int rank;
    };
    // `givers` and `takers` are in ascending order of position and of rank.
    std::vector<RankSection> givers, takers;
    for (const auto& [rank, section] : arrived)
      (section.gives ? givers : takers).push_back({section, rank});
    Outbox<RankShare> shares;
    auto taker = takers.begin();
    for (const RankSection& giver : givers) {
      for (; taker != takers.end() && taker->at.from < giver.at.to; ++taker) {
        const std::uint64_t to = std::min(giver.at.to, taker->at.to);
        shares.add(giver.rank, {taker->rank, to - std::max(giver.at.from, taker->at.from)});
        if (taker->at.to > giver.at.to) break;
      }
    }
    NMB_ASSIGN(const Inbox<RankShare> given, exchange(ranks_, shares));
    std::vector<RankShare> parts;
    for (const auto& [rank, part] : given) {
      if (!parts.empty() && parts.back().rank == part.rank)
        parts.back().bytes += part.bytes;
      else
        parts.push_back(part);
    }
    return parts;
  }

  // Assigns whole windows of this rank's moves to other ranks, from the last window to the first.
  void assign_windows(const std::vector<RankShare>& given) {
    std::vector<Move*> kept;
    auto move = moves_.rbegin();
    std::uint64_t end = move == moves_.rend() ? 0 : (*move)->stored_length();
    auto next = [&] {
      if (++move != moves_.rend()) end = (*move)->stored_length();
    };
    // Number of bytes that are still to be assigned. If fewer bytes than a window are left for a
    // rank, they are added to the bytes of the next rank.
    std::uint64_t left = 0;
    for (const auto& [rank, bytes] : given) {
      left += bytes;
      while (left > 0 && move != moves_.rend()) {
        if ((*move)->origin.empty() || end == 0) {
          kept.push_back(*move);
          next();
          continue;
        }
        std::uint64_t from = end > left ? end - left : 0;
        from = (from + piece_size_ - 1) / piece_size_ * piece_size_;
        if (from >= end) break;
        left -= end - from;
        assignments_.push_back({rank, *move, from, part_of(**move, from, end)});
        end = from;
        if (end == 0) next();
      }
    }
    for (; move != moves_.rend(); next()) {
      if (end == (*move)->stored_length())
        kept.push_back(*move);
      else
        assignments_.push_back({ranks_.rank(), *move, 0, part_of(**move, 0, end)});
    }
    std::ranges::reverse(kept);
    moves_ = std::move(kept);
    for (Assignment& assignment : assignments_)
      assignment.move->sums.assign(assignment.move->windows(piece_size_), 0);
  }

  // For each part that another rank performs, makes the description with which that rank opens the
  // part's source. Parts whose source cannot be described stay on this rank.
  Status narrow_origins() {
    if (!options_.narrow_origin) return {};
    Status status;
    for (Assignment& assignment : assignments_) {
      if (assignment.to == ranks_.rank()) continue;
      ByteRange wanted{~std::uint64_t{0}, 0};
      for (const ValueRuns& run : assignment.part.runs) {
        wanted.begin = std::min(wanted.begin, run.source_offset);
        wanted.end = std::max(wanted.end,
                              run.source_offset + (run.count - 1) * run.source_stride + run.length);
      }
      if (assignment.part.runs.empty()) wanted = {0, 0};
      Result<std::string> narrow = options_.narrow_origin(assignment.part.origin, wanted);
      if (narrow.ok() && !narrow->empty()) {
        assignment.part.origin = std::move(*narrow);
        continue;
      }
      if (status.ok()) status = narrow.status();
      assignment.to = ranks_.rank();
    }
    return status;
  }

  Result<Inbox<Move>> send_assignments() {
    Outbox<Move> shared;
    for (const Assignment& assignment : assignments_)
      if (assignment.to != ranks_.rank()) shared.add(assignment.to, assignment.part);
    return exchange(ranks_, shared);
  }

  // Moves the values that stay on this rank and the values that other ranks have assigned to it.
  Status move_all(Inbox<Move>& shared) {
    const Move* before = nullptr;
    for (auto& [rank, move] : shared) {
      if (before && before->origin == move.origin) {
        move.source = before->source;
      } else {
        NMB_ASSIGN(move.source, options_.open_values(move.origin));
      }
      before = &move;
    }
    for (Assignment& assignment : assignments_)
      if (assignment.to == ranks_.rank()) moves_.push_back(&assignment.part);
    for (auto& [rank, move] : shared) moves_.push_back(&move);
    std::ranges::sort(moves_, {}, &Move::position);
    return move_values(moves_, file_, piece_size_, options_);
  }

  Status return_sums(const Inbox<Move>& shared) {
    Outbox<Sums> answers;
    for (const auto& [rank, move] : shared) answers.add(rank, move.sums);
    NMB_ASSIGN(const Inbox<Sums> sums, exchange(ranks_, answers));
    auto keep = [&](const Assignment& assignment, const Sums& of_part) {
      std::ranges::copy(of_part, assignment.move->sums.begin() +
                                     static_cast<std::ptrdiff_t>(assignment.from / piece_size_));
    };
    // The answers of a rank are in the order in which this rank sent the parts.
    std::map<int, Inbox<Sums>::Iterator> next_of;
    for (auto answer = sums.begin(); answer != sums.end(); ++answer)
      next_of.try_emplace(answer->from, answer);
    for (const Assignment& assignment : assignments_)
      keep(assignment, assignment.to == ranks_.rank() ? assignment.part.sums
                                                      : (next_of.at(assignment.to)++)->what);
    return {};
  }

  Communicator& ranks_;
  std::vector<Move*>& moves_;
  OutputFile& file_;
  const std::uint32_t piece_size_;
  const FileWriterOptions& options_;
  // Parts of this rank's moves. A part that stays on this rank is an Assignment to this rank
  // itself.
  std::vector<Assignment> assignments_;
};

}  // namespace

Move part_of(const Move& move, std::uint64_t from, std::uint64_t to) {
  // Converts an offset in the stored bytes to an offset in the extent. They differ, because holes
  // have no stored bytes.
  auto logical = [&](std::uint64_t stored, bool behind_hole) {
    for (const ByteRange& hole : move.holes) {
      if (hole.begin > stored || (hole.begin == stored && !behind_hole)) break;
      stored += hole.length();
    }
    return stored;
  };
  const std::uint64_t begin = logical(from, true), end = logical(to, false);
  Move part;
  part.source = move.source;
  part.origin = move.origin;
  part.summed = move.summed;
  part.length = end - begin;
  part.position = move.position + from;
  for (const ByteRange& hole : move.holes)
    if (hole.begin >= begin && hole.end <= end)
      part.holes.push_back({hole.begin - begin, hole.end - begin});
  for (auto run = run_at(move.runs, begin);
       run != std::span(move.runs).end() && run->extent_offset < end; ++run)
    clip(*run, begin, end, &part.runs);
  return part;
}

Status share_moves(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
                   std::uint32_t piece_size, const FileWriterOptions& options, Status status) {
  return MoveSharing(ranks, moves, file, piece_size, options).run(std::move(status));
}

}  // namespace nmb
