// Moves dealt to ranks (see writer/move_sharing.h).
#include "writer/move_sharing.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "nmb/byte_range.h"
#include "parallel/letters.h"

namespace nmb {

namespace {

// The bytes of a run that lie in [from, to) of the extent, counted from there.
void clip(const ValueRuns& run, std::uint64_t from, std::uint64_t to, std::vector<ValueRuns>* out) {
  const std::uint64_t stride = run.count > 1 ? run.extent_stride : run.length;
  if (run.extent_offset >= to) return;
  // Those that end behind `from` and begin before `to`.
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
  // Only the first and the last may be cut.
  if (first < last) add(first, 1);
  if (first + 2 < last) add(first + 1, last - first - 2);
  if (first + 1 < last) add(last - 1, 1);
}

// Bytes of a rank's moves that another rank takes.
struct Loan {
  int to;
  Move* move;
  std::uint64_t from;  // in the output, from the move's position
  Move part;
};

void put(MessageWriter& out, const Loan& loan) {
  const Move& part = loan.part;
  out.put_text(part.origin);
  out.put(part.length);
  out.put(part.position);
  out.put_bytes(std::as_bytes(std::span(part.runs)));
  out.put_bytes(std::as_bytes(std::span(part.holes)));
}

template <class T>
std::vector<T> get_all(MessageReader& in) {
  const std::span<const std::byte> bytes = in.get_bytes();
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

class MoveSharing {
 public:
  MoveSharing(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
              std::uint32_t piece_size, const WriterOptions& options)
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
    // Sharing has a price: less is not worth it.
    const std::uint64_t least = std::max<std::uint64_t>(share / 16, std::uint64_t{4} * piece_size_);
    if (load.most < share + least) return move_own();
    NMB_ASSIGN(const std::vector<Message> dealt, deal(own, share));
    lend(dealt);
    const Status narrowed = narrow_loans();
    NMB_ASSIGN(const std::vector<Message> letters, ranks_.exchange(take_letters()));
    NMB_TRY(ranks_.agree(narrowed.ok() ? move_all(letters) : narrowed));
    return return_sums(letters);
  }

 private:
  struct Part {
    int rank;
    std::uint64_t bytes;
  };

  // What a rank has above its share, or below it, meets at rank 0, which tells the former who takes
  // how much.
  Result<std::vector<Message>> deal(std::uint64_t own, std::uint64_t share) {
    std::uint64_t above = 0;
    if (own > share) {
      for (const Move* move : moves_)
        if (!move->origin.empty()) above += move->stored_length();
      above = std::min(above, own - share);
    }
    struct Account {
      std::uint64_t above, below;
    };
    Letters letters;
    letters.to(0).put(Account{above, own < share ? share - own : 0});
    NMB_ASSIGN(const std::vector<Message> accounts, ranks_.exchange(letters.take()));
    std::vector<Part> takers;
    for (const Message& message : accounts)
      if (const auto account = MessageReader(message.bytes()).get<Account>(); account.below > 0)
        takers.push_back({message.from(), account.below});
    auto taker = takers.begin();
    for (const Message& message : accounts) {
      std::uint64_t left = MessageReader(message.bytes()).get<Account>().above;
      while (left > 0 && taker != takers.end()) {
        const std::uint64_t bytes = std::min(left, taker->bytes);
        letters.to(message.from()).put(Part{taker->rank, bytes});
        left -= bytes;
        if ((taker->bytes -= bytes) == 0) ++taker;
      }
    }
    return ranks_.exchange(letters.take());
  }

  // Whole windows, from the last backwards.
  void lend(const std::vector<Message>& dealt) {
    std::vector<Move*> kept;
    auto move = moves_.rbegin();
    std::uint64_t end = move == moves_.rend() ? 0 : (*move)->stored_length();
    auto next = [&] {
      if (++move != moves_.rend()) end = (*move)->stored_length();
    };
    std::uint64_t left = 0;  // what one did not get because it is no whole window the next gets
    for (const Message& message : dealt) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto [rank, bytes] = in.get<Part>();
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
          loans_.push_back({rank, *move, from, part_of(**move, from, end)});
          end = from;
          if (end == 0) next();
        }
      }
    }
    for (; move != moves_.rend(); next()) {
      if (end == (*move)->stored_length())
        kept.push_back(*move);
      else
        loans_.push_back({ranks_.rank(), *move, 0, part_of(**move, 0, end)});
    }
    std::reverse(kept.begin(), kept.end());
    moves_ = std::move(kept);
    for (Loan& loan : loans_) loan.move->sums.assign(loan.move->windows(piece_size_), 0);
  }

  // What others open the sources of their parts by; what they cannot open stays here.
  Status narrow_loans() {
    if (!options_.narrow_origin) return {};
    Status status;
    for (Loan& loan : loans_) {
      if (loan.to == ranks_.rank()) continue;
      ByteRange wanted{~std::uint64_t{0}, 0};
      for (const ValueRuns& run : loan.part.runs) {
        wanted.begin = std::min(wanted.begin, run.source_offset);
        wanted.end = std::max(wanted.end,
                              run.source_offset + (run.count - 1) * run.source_stride + run.length);
      }
      if (loan.part.runs.empty()) wanted = {0, 0};
      Result<std::string> narrow = options_.narrow_origin(loan.part.origin, wanted);
      if (narrow.ok() && !narrow->empty()) {
        loan.part.origin = std::move(*narrow);
        continue;
      }
      if (status.ok()) status = narrow.status();
      loan.to = ranks_.rank();
    }
    return status;
  }

  std::vector<Communicator::Parcel> take_letters() {
    Letters letters;
    for (const Loan& loan : loans_)
      if (loan.to != ranks_.rank()) put(letters.to(loan.to), loan);
    return letters.take();
  }

  // What stays, and what others left.
  Status move_all(const std::vector<Message>& letters) {
    for (const Message& message : letters) {
      for (MessageReader in(message.bytes()); !in.at_end();) {
        Move move;
        move.origin = std::string(in.get_text());
        move.length = in.get<std::uint64_t>();
        move.position = in.get<std::uint64_t>();
        move.runs = get_all<ValueRuns>(in);
        move.holes = get_all<ByteRange>(in);
        if (taken_.empty() || taken_.back().origin != move.origin) {
          NMB_ASSIGN(move.source, options_.open_values(move.origin));
        } else {
          move.source = taken_.back().source;
        }
        taken_.push_back(std::move(move));
      }
    }
    for (Loan& loan : loans_)
      if (loan.to == ranks_.rank()) moves_.push_back(&loan.part);
    for (Move& move : taken_) moves_.push_back(&move);
    std::sort(moves_.begin(), moves_.end(),
              [](const Move* a, const Move* b) { return a->position < b->position; });
    return move_values(moves_, file_, piece_size_, options_);
  }

  Status return_sums(const std::vector<Message>& letters) {
    Letters answers;
    auto taken = taken_.begin();
    for (const Message& message : letters) {
      MessageWriter& answer = answers.to(message.from());
      for (MessageReader in(message.bytes()); !in.at_end(); ++taken) {
        skip(in);
        answer.put_bytes(std::as_bytes(std::span(taken->sums)));
      }
    }
    NMB_ASSIGN(const std::vector<Message> sums, ranks_.exchange(answers.take()));
    auto keep = [&](const Loan& loan, const std::vector<std::uint64_t>& of_part) {
      std::copy(of_part.begin(), of_part.end(),
                loan.move->sums.begin() + static_cast<std::ptrdiff_t>(loan.from / piece_size_));
    };
    for (const Message& message : sums) {
      MessageReader in(message.bytes());
      for (const Loan& loan : loans_)
        if (loan.to == message.from()) keep(loan, get_all<std::uint64_t>(in));
    }
    for (const Loan& loan : loans_)
      if (loan.to == ranks_.rank()) keep(loan, loan.part.sums);
    return {};
  }

  static void skip(MessageReader& in) {
    in.get_text();
    in.get<std::uint64_t>();
    in.get<std::uint64_t>();
    in.get_bytes();
    in.get_bytes();
  }

  Communicator& ranks_;
  std::vector<Move*>& moves_;
  OutputFile& file_;
  const std::uint32_t piece_size_;
  const WriterOptions& options_;
  std::vector<Loan> loans_;  // to this rank itself: what is left of a move
  std::vector<Move> taken_;  // in the order of the letters
};

}  // namespace

Move part_of(const Move& move, std::uint64_t from, std::uint64_t to) {
  // In the extent there are holes besides.
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
  auto run = std::upper_bound(
      move.runs.begin(), move.runs.end(), begin, [](std::uint64_t at, const ValueRuns& r) {
        return at < r.extent_offset + (r.count - 1) * r.extent_stride + r.length;
      });
  for (; run != move.runs.end() && run->extent_offset < end; ++run)
    clip(*run, begin, end, &part.runs);
  return part;
}

Status share_moves(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
                   std::uint32_t piece_size, const WriterOptions& options, Status status) {
  return MoveSharing(ranks, moves, file, piece_size, options).run(std::move(status));
}

}  // namespace nmb
