#include "state/piece_exchange.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "ranks/write_buffer.h"

namespace nmb {

namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

// Records which bytes of a piece have arrived.
class Coverage {
 public:
  // Makes the piece longer. The added bytes count as bytes that have not arrived.
  void resize(std::uint64_t length) {
    length_ = length;
    words_.resize((length + 63) / 64);
  }
  void add(std::uint64_t from, std::uint64_t to) {
    for (; from < to && from % 64 != 0; ++from) set(from);
    for (; to > from && to % 64 != 0; --to) set(to - 1);
    if (from < to) std::fill(words_.begin() + at(from), words_.begin() + at(to), kAll);
  }
  bool is_full() const {
    const std::uint64_t whole = length_ / 64, rest = length_ % 64;
    return std::all_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(whole),
                       [](std::uint64_t word) { return word == kAll; }) &&
           (rest == 0 || words_[whole] == (std::uint64_t{1} << rest) - 1);
  }
  std::vector<Interval> intervals() const {
    std::vector<Interval> out;
    for (std::uint64_t i = 0; i < length_;) {
      const std::uint64_t from = next(i, true);
      i = next(from, false);
      if (from < i) out.push_back({from, i});
    }
    return out;
  }

 private:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static std::ptrdiff_t at(std::uint64_t i) { return static_cast<std::ptrdiff_t>(i / 64); }
  void set(std::uint64_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  // Returns the first byte at or after `i` that has arrived or, if `there` is false, that has not
  // arrived. If there is no such byte, returns the length of the piece.
  std::uint64_t next(std::uint64_t i, bool there) const {
    while (i < length_) {
      const std::uint64_t word = there ? words_[i / 64] : ~words_[i / 64];
      const std::uint64_t rest = word >> i % 64;
      if (rest != 0)
        return std::min(length_, i + static_cast<std::uint64_t>(std::countr_zero(rest)));
      i = (i / 64 + 1) * 64;
    }
    return length_;
  }

  std::uint64_t length_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace

// A part of a piece in a message. Unless the sender has written the piece itself, the part has runs
// and their bytes. The encoding is short, because each of many ranks may send only a few bytes of a
// piece.
struct SentPart {
  ExtentState::FreshPiece piece;
  Sharing::Handle primary;
  bool is_written;
  std::vector<PiecePart::Runs> runs{};
  std::span<const std::byte> bytes{};
};

template <class Fields>
void fields(Fields& all, SentPart& part) {
  all.small(part.piece.logical, part.piece.length, part.piece.position, part.primary.rank,
            part.primary.id);
  all(part.is_written);
  if (!part.is_written) all(part.runs, part.bytes);
}

void PiecePart::add_run(std::uint64_t offset, std::uint64_t length) {
  bytes += length;
  if (!runs.empty()) {
    Runs& last = runs.back();
    const std::uint64_t begin = last.offset + (last.count - 1) * last.stride;
    if (last.count == 1 && begin + last.length == offset) {
      last.length += length;
      last.stride = last.length;
      return;
    }
    const std::uint64_t stride = offset - begin;
    if (last.length == length && (last.count == 1 || last.stride == stride)) {
      last.stride = stride;
      ++last.count;
      return;
    }
  }
  runs.push_back({offset, length, length, 1});
}

// The piece that is being assembled. The memory of an Assembly is reused for the next piece.
struct PieceExchange::Assembly {
  ExtentState::FreshPiece piece{};
  Sharing::Handle primary{};
  bool is_written = false;  // true if one rank has written the whole piece
  Coverage covered{};

  void begin(const SentPart& part) {
    piece = part.piece;
    primary = part.primary;
    is_written = false;
    length_ = 0;
    covered = {};
  }
  void lengthen(std::uint64_t length) {
    if (length <= length_) return;
    length_ = length;
    if (room_.size() < length) room_.resize(length);
    covered.resize(length);
  }
  // The bytes that `covered` does not have are those of earlier pieces.
  std::span<std::byte> bytes() { return std::span(room_).first(length_); }
  std::span<const std::byte> bytes() const { return std::span(room_).first(length_); }

 private:
  std::vector<std::byte> room_{};
  std::uint64_t length_ = 0;
};

Written& PieceExchange::written_for(const Sharing::Handle& primary) {
  return written_[{primary.rank, primary.id}];
}

// Chooses the next round so that no rank sends much more than kRoundBytes. Collective.
Result<PieceExchange::Round> PieceExchange::next_round(std::span<const PiecePart> rest,
                                                       const Status& status, const Digest& digest,
                                                       bool waiting) {
  Round mine{kNowhere, kNowhere, digest, !status.ok(), waiting, conflict_, out_of_range_, true};
  if (!rest.empty()) mine.from = rest[0].piece.position;
  std::uint64_t bytes = 0;
  for (const PiecePart& part : rest) {
    if (bytes > kRoundBytes && part.piece.position > mine.from) {
      mine.to = part.piece.position;
      break;
    }
    bytes += part.bytes;
  }
  NMB_ASSIGN(Round round, ranks_.all_reduce(mine, [](const Round& a, const Round& b) {
    return Round{std::min(a.from, b.from),
                 std::min(a.to, b.to),
                 a.digest,
                 a.failed || b.failed,
                 a.waiting || b.waiting,
                 a.conflict || b.conflict,
                 a.out_of_range || b.out_of_range,
                 a.alike && b.alike && a.digest == b.digest};
  }));
  if (round.failed) return ranks_.agree(status);
  conflict_ = round.conflict;
  out_of_range_ = round.out_of_range;
  const std::uint64_t pieces = std::max<std::uint64_t>(1, kRoundBytes / how_.stripe);
  if (round.from != kNowhere)
    round.to = std::min(
        round.to, round.from + static_cast<std::uint64_t>(how_.writers) * pieces * how_.stripe);
  return round;
}

// Writes a whole piece directly to the file. If another rank also has bytes of this piece, the
// conflict is found later.
Status PieceExchange::write_piece(const PiecePart& part, std::span<const std::byte> bytes) {
  NMB_TRY(file_.write_at(part.piece.position, bytes));
  written_for(part.primary).add_piece(part.piece.logical, part.piece.end(), sum_of(bytes));
  return {};
}

namespace {

// Reads the parts in the message of one rank, in ascending order of position.
struct PartsOfRank {
  explicit PartsOfRank(const Message& message) : in(message.bytes()) { next(); }

  void next() {
    at_end = in.at_end();
    if (!at_end) part = in.next<SentPart>();
  }
  bool is_at(std::uint64_t position) const { return !at_end && part.piece.position == position; }

  FieldsIn in;
  bool at_end = false;
  SentPart part{};  // the next part
};

}  // namespace

// Assembles and writes all pieces that were sent to this rank, in the order of their positions.
// After a failure, this function writes nothing more but still detects conflicts.
Status PieceExchange::write_arrived(const std::vector<Message>& arrived) {
  std::vector<PartsOfRank> ranks(arrived.begin(), arrived.end());
  Assembly assembly;
  Status status;
  for (;;) {
    const auto first = std::ranges::min_element(ranks, {}, [](const PartsOfRank& of) {
      return of.at_end ? kNowhere : of.part.piece.position;
    });
    if (first == ranks.end() || first->at_end) return status;
    const std::uint64_t position = first->part.piece.position;
    assembly.begin(first->part);
    // Takes the parts in the order of ranks, so that the values of the highest rank win.
    for (PartsOfRank& of : ranks)
      for (; of.is_at(position); of.next()) {
        const Status taken = of.in.ok() ? take_part(of.part, &assembly) : of.in.status();
        if (status.ok()) status = taken;
      }
    if (status.ok()) status = write(assembly, position);
  }
}

Status PieceExchange::take_part(const SentPart& part, Assembly* assembly) {
  conflict_ = conflict_ || assembly->is_written;
  if (part.is_written) {
    conflict_ = conflict_ || !assembly->bytes().empty();
    assembly->is_written = true;
    return {};
  }
  // A piece grows when a rank puts new records. A rank that has not put new records itself may have
  // sent the old length of the piece.
  assembly->lengthen(part.piece.length);
  const std::span<std::byte> piece = assembly->bytes();
  std::span<const std::byte> bytes = part.bytes;
  for (const PiecePart::Runs& run : part.runs) {
    for (std::uint64_t i = 0, at = run.offset; i < run.count; ++i, at += run.stride) {
      if (run.length > bytes.size() || at > piece.size() || run.length > piece.size() - at)
        return Status(Code::kDamaged, "a message has values outside their piece");
      std::memcpy(piece.data() + at, bytes.data(), run.length);
      assembly->covered.add(at, at + run.length);
      bytes = bytes.subspan(run.length);
    }
  }
  return {};
}

Status PieceExchange::write(const Assembly& assembly, std::uint64_t position) {
  const std::span<const std::byte> bytes = assembly.bytes();
  if (bytes.empty()) return {};
  const std::uint64_t logical = assembly.piece.logical;
  Written& written = written_for(assembly.primary);
  if (assembly.covered.is_full()) {
    NMB_TRY(file_.write_at(position, bytes));
    written.add_piece(logical, logical + bytes.size(), sum_of(bytes));
    return {};
  }
  // Runs that lie close together become one write. Nobody else writes to this piece meanwhile.
  WriteBuffer buffer(file_, bytes.size() + 1);
  buffer.set_own({{position, position + bytes.size()}});
  for (const Interval& run : assembly.covered.intervals()) {
    NMB_TRY(buffer.write_at(position + run.begin, bytes.subspan(run.begin, run.end - run.begin)));
    written.add(logical + run.begin, logical + run.end);
  }
  return buffer.flush();
}

// Reserves memory for all bytes that go to each rank, because a message that grows would be copied.
void PieceExchange::reserve_messages(std::span<const PiecePart> rest, std::uint64_t to,
                                     Outbox<SentPart>* outgoing) const {
  constexpr std::uint64_t kHead = 64;
  std::map<int, std::uint64_t> lengths;
  for (const PiecePart& part : rest) {
    if (part.piece.position >= to) break;
    lengths[how_.rank_of(part.piece.position, ranks_.size())] +=
        part.bytes + part.runs.size() * kHead + kHead;
  }
  for (const auto& [rank, length] : lengths) outgoing->use(rank, ranks_.parcel_bytes(length));
}

// Returns the bytes of a part, which are valid until the next call.
std::span<const std::byte> PieceExchange::encoded(const PiecePart& part, const Encode& encode,
                                                  bool again) {
  encoded_.resize(part.bytes);
  if (encode(part, encoded_, again)) out_of_range_ = true;
  return encoded_;
}

void PieceExchange::add_values(const Encode& encode, DigestStream* digest) {
  for (const PiecePart& part : parts_) digest->add(encoded(part, encode, false));
  counted_ = true;
}

namespace {

std::uint64_t bytes_of(std::span<const PiecePart> parts) {
  std::uint64_t bytes = 0;
  for (const PiecePart& part : parts) bytes += part.bytes;
  return bytes;
}

// Adds the places of the parts in the file, and their selections.
void add_selections(std::span<const PiecePart> parts, DigestStream* digest) {
  const auto add = [&](std::initializer_list<std::uint64_t> numbers) {
    digest->add(std::as_bytes(std::span(numbers.begin(), numbers.size())));
  };
  for (const PiecePart& part : parts) {
    add({part.piece.position, part.piece.logical, part.piece.length, part.bytes, part.runs.size()});
    for (const PiecePart::Runs& run : part.runs)
      add({run.offset, run.length, run.stride, run.count});
  }
}

}  // namespace

// Returns whether all ranks have the same parts with the same bytes. Collective.
Result<bool> PieceExchange::are_alike(const Encode& encode, const Status& status) {
  if (!first_.alike || bytes_of(parts_) <= kFewBytes) return first_.alike;
  DigestStream values;
  add_values(encode, &values);
  NMB_ASSIGN(const Round round, next_round(parts_, status, values.digest()));
  return round.alike;
}

// Writes the pieces of this rank's stripes; other ranks, which have the same parts, write the rest.
Status PieceExchange::put_alike(const Encode& encode) {
  Assembly assembly;
  for (auto first = parts_.begin(); first != parts_.end();) {
    const std::uint64_t position = first->piece.position;
    const auto behind = std::find_if(first, parts_.end(), [&](const PiecePart& part) {
      return part.piece.position != position;
    });
    if (how_.rank_of(position, ranks_.size()) == ranks_.rank()) {
      assembly.begin({first->piece, first->primary, false});
      for (auto part = first; part != behind; ++part)
        NMB_TRY(
            take_part({part->piece, part->primary, false, part->runs, encoded(*part, encode, true)},
                      &assembly));
      NMB_TRY(write(assembly, position));
    }
    first = behind;
  }
  return {};
}

// Writes the parts of all ranks in rounds, of which `round` is the first. alone_direct: if true, a
// rank that has a whole piece in one part writes the piece itself.
Status PieceExchange::put_in_rounds(Round round, Status status, const Encode& encode,
                                    bool alone_direct) {
  const std::span<const PiecePart> parts = parts_;
  for (std::size_t next = 0; round.from != kNowhere;) {
    Outbox<SentPart> outgoing;
    reserve_messages(parts.subspan(next), round.to, &outgoing);
    for (; next < parts.size() && parts[next].piece.position < round.to; ++next) {
      const PiecePart& part = parts[next];
      const std::uint64_t position = part.piece.position;
      const bool only = part.covers_piece() &&
                        (next == 0 || parts[next - 1].piece.position != position) &&
                        (next + 1 == parts.size() || parts[next + 1].piece.position != position);
      const bool direct = alone_direct && only;
      const std::span<const std::byte> bytes = encoded(part, encode, counted_ || !alone_direct);
      outgoing.add(how_.rank_of(position, ranks_.size()),
                   {part.piece, part.primary, direct, part.runs, bytes});
      if (direct && status.ok()) status = write_piece(part, bytes);
    }
    NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(outgoing.take()));
    const Status written = status.ok() ? write_arrived(arrived) : Status();
    if (status.ok()) status = written;
    NMB_ASSIGN(round, next_round(parts.subspan(next), status));
  }
  return {};
}

Result<bool> PieceExchange::begin(std::vector<PiecePart> parts, const Encode& encode,
                                  const Status& status, bool waiting) {
  parts_ = std::move(parts);
  counted_ = out_of_range_ = false;
  std::ranges::sort(parts_, {},
                    [](const PiecePart& part) { return std::pair(part.piece.position, part.put); });
  DigestStream digest;
  add_selections(parts_, &digest);
  if (bytes_of(parts_) <= kFewBytes) add_values(encode, &digest);
  NMB_ASSIGN(first_, next_round(parts_, status, digest.digest(), waiting));
  return first_.waiting;
}

Result<bool> PieceExchange::put(const Encode& encode, Status status, bool out_of_range) {
  out_of_range_ = out_of_range_ || out_of_range;
  NMB_ASSIGN(const bool alike, are_alike(encode, status));
  if (alike) {
    if (status.ok()) status = put_alike(encode);
    NMB_TRY(next_round({}, status).status());
    return out_of_range_;
  }
  NMB_TRY(put_in_rounds(first_, status, encode, true));
  if (!conflict_) return out_of_range_;
  // After a conflict, all pieces are sent and written again, so that the values of the highest rank
  // win.
  NMB_ASSIGN(const Round again, next_round(parts_, {}));
  NMB_TRY(put_in_rounds(again, {}, encode, false));
  return out_of_range_;
}

}  // namespace nmb
