#include "origins/extent_state.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "extent/piece_codec.h"
#include "wire/checked.h"
#include "wire/hash.h"

namespace nmb {

namespace {
constexpr std::size_t kBuffer = 1 << 20;
constexpr std::uint64_t kWorthSumming = 64 << 10;
// A gap with fewer bytes than this gets space too. Otherwise it would divide a piece, and the
// additional rows of the data map would need about as many bytes.
constexpr std::uint64_t kSmallGap = 64;
}  // namespace

Result<std::uint64_t> sum_in_file(WriteBuffer& file, std::uint64_t position, std::uint64_t length) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(length, kBuffer));
  SumStream stream;
  for (std::uint64_t done = 0; done < length;) {
    auto part = std::span(buffer).first(std::min<std::uint64_t>(length - done, kBuffer));
    NMB_TRY(file.read_back(position + done, part));
    stream.add(part);
    done += part.size();
  }
  return stream.sum();
}

void ExtentState::start_run(std::uint64_t length, std::uint64_t position) {
  length_ = first_new_ = length;
  is_committed_ = false;
  committed_length_ = loaded_from_ = 0;
  segments_.clear();
  readable_.clear();
  exchanged_.clear();
  replaced_.clear();
  exchange = 0;
  if (length > 0) segments_.push_back({0, length, position, true, 0, 0});
}

void ExtentState::start_committed(std::uint64_t length) {
  length_ = first_new_ = committed_length_ = loaded_from_ = length;
  is_committed_ = true;
  segments_.clear();
  written_.clear();
  readable_.clear();
  exchanged_.clear();
  replaced_.clear();
  exchange = 0;
}

Status ExtentState::load(std::uint64_t offset) {
  if (offset >= loaded_from_) return {};
  std::vector<Segment> loaded;
  std::uint64_t begin = offset;
  NMB_TRY(committed_(offset, loaded_from_, [&](const Piece& piece) -> Status {
    begin = std::min(begin, piece.logical);
    if (!piece.hole)
      loaded.push_back({piece.logical, piece.length, piece.position, false, piece.sum, 0,
                        piece.codec, piece.coded_length, piece.file});
    return {};
  }));
  segments_.insert(segments_.begin(), loaded.begin(), loaded.end());
  loaded_from_ = begin;
  return {};
}

std::size_t ExtentState::first_segment_at(std::uint64_t offset) const {
  auto it = std::ranges::upper_bound(segments_, offset, {}, &Segment::end);
  return static_cast<std::size_t>(it - segments_.begin());
}

// Sets the bytes of an uncommitted segment to zero, beginning at `from`. Bytes that no longer
// belong to a structure of the file must be zero.
Status ExtentState::clear(const Segment& segment, std::uint64_t from, WriteBuffer& file) const {
  std::vector<std::byte> zeros;
  for (const Interval& part : stored_in(from, segment.end())) {
    for (std::uint64_t at = part.begin; at < part.end; at += zeros.size()) {
      zeros.resize(std::min<std::uint64_t>(part.end - at, kBuffer));
      NMB_TRY(file.write_at(segment.position + (at - segment.logical), zeros));
    }
  }
  return {};
}

Status ExtentState::resize(std::uint64_t length, WriteBuffer& file, DeadPieces& dead) {
  if (length < length_) {
    NMB_TRY(load(length));
    while (!segments_.empty() && segments_.back().logical >= length) {
      const Segment& last = segments_.back();
      if (last.fresh)
        NMB_TRY(clear(last, last.logical, file));
      else
        dead.piece_died(last.piece());
      segments_.pop_back();
    }
    if (!segments_.empty() && segments_.back().end() > length) {
      Segment& last = segments_.back();
      if (last.fresh)
        NMB_TRY(clear(last, length, file));
      else
        last.cut += last.end() - length;
      last.length = length - last.logical;
    }
    written_.remove(length, ~std::uint64_t{0});
    readable_.remove(length, ~std::uint64_t{0});
    exchanged_.remove(length, ~std::uint64_t{0});
    first_new_ = std::min(first_new_, length);
  }
  length_ = length;
  return {};
}

Status ExtentState::stage(std::uint64_t offset, std::span<const std::byte> bytes, Stage& stage) {
  const std::uint64_t end = offset + bytes.size();
  for (std::uint64_t at = offset; at < end;) {
    const auto next = staged_.upper_bound(at);
    const auto before = next == staged_.begin() ? staged_.end() : std::prev(next);
    const std::uint64_t before_end =
        before == staged_.end() ? 0 : before->first + before->second.length;
    const auto part = bytes.subspan(at - offset);
    if (before_end > at) {
      // Values that wait already are replaced in the stage, so it holds each byte once.
      const std::uint64_t length = std::min(before_end, end) - at;
      NMB_TRY(stage.replace(before->second.place + (at - before->first), part.first(length)));
      at += length;
      continue;
    }
    const std::uint64_t length = (next == staged_.end() ? end : std::min(end, next->first)) - at;
    const std::uint64_t place = stage.size();
    NMB_TRY(stage.append(part.first(length)));
    if (before != staged_.end() && before_end == at &&
        before->second.place + before->second.length == place)
      before->second.length += length;
    else
      staged_.emplace_hint(next, at, StagedRun{length, place});
    at += length;
  }
  return {};
}

Status ExtentState::write_fresh(const Segment& segment, std::uint64_t at,
                                std::span<const std::byte> part, const WriteAt& write) {
  const std::uint64_t to = at + part.size();
  NMB_TRY(write(segment.position + (at - segment.logical), part));
  written_.add(at, to);
  // Computes the sums of large pieces that `part` covers completely. The sums of small pieces are
  // computed by the commit, which reads them soon anyway.
  for (std::uint64_t from = at; from < to;) {
    const FreshPiece piece = piece_of(segment, from);
    if (piece.logical == from && piece.end() <= to && piece.length >= kWorthSumming)
      written_.add_piece(from, piece.end(), sum_of(part.subspan(from - at, piece.length)));
    from = piece.end();
  }
  return {};
}

ExtentState::FreshPiece ExtentState::piece_of(const Segment& segment, std::uint64_t offset) const {
  const std::uint64_t window = offset / piece_size_ * piece_size_;
  const std::uint64_t from = std::max(window, segment.logical);
  const std::uint64_t to = std::min(window + piece_size_, segment.end());
  return {from, to - from, segment.position + (from - segment.logical)};
}

ExtentState::FreshPiece ExtentState::fresh_piece_at(std::uint64_t offset) const {
  const Segment& segment = segments_[first_segment_at(offset)];
  assert(segment.fresh && segment.logical <= offset);
  return piece_of(segment, offset);
}

bool ExtentState::is_gap(std::uint64_t from, std::uint64_t to) const {
  const std::size_t next = first_segment_at(from);
  return next == segments_.size() || segments_[next].logical >= to;
}

bool ExtentState::is_fresh(std::uint64_t from, std::uint64_t to) const {
  if (from < std::min(to, loaded_from_)) return false;
  for (std::size_t i = first_segment_at(from); from < to; ++i) {
    if (i == segments_.size() || !segments_[i].fresh || segments_[i].logical > from) return false;
    from = segments_[i].end();
  }
  return true;
}

Status ExtentState::write(std::uint64_t offset, std::span<const std::byte> bytes, WriteBuffer& file,
                          Stage& staged) {
  NMB_TRY(load(offset));
  std::uint64_t at = offset;
  const std::uint64_t end = offset + bytes.size();
  while (at < end) {
    const std::size_t index = first_segment_at(at);
    const bool gap = index == segments_.size() || segments_[index].logical > at;
    const std::uint64_t to = std::min(end, index == segments_.size() ? end
                                           : gap                     ? segments_[index].logical
                                                                     : segments_[index].end());
    auto part = bytes.subspan(at - offset, to - at);
    if (gap || !segments_[index].fresh)
      NMB_TRY(stage(at, part, staged));
    else
      NMB_TRY(write_fresh(segments_[index], at, part,
                          [&](std::uint64_t position, std::span<const std::byte> written) {
                            return file.write_at(position, written);
                          }));
    at = to;
  }
  return {};
}

bool ExtentState::has_cut() const {
  // Only the last committed segment can have been cut; all segments after it are uncommitted.
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment)
    if (!segment->fresh) return segment->cut != 0;
  return false;
}

bool ExtentState::has_fresh() const {
  return std::ranges::any_of(segments_, [](const Segment& s) { return s.fresh; });
}

std::vector<Interval> ExtentState::staged() const {
  std::vector<Interval> all;
  for (const auto& [offset, run] : staged_) {
    if (all.empty() || all.back().end != offset) all.push_back({offset, offset});
    all.back().end += run.length;
  }
  return all;
}

std::vector<Interval> ExtentState::unplaced() const {
  std::vector<Interval> waiting = staged();
  if (wanted_.empty()) return waiting;
  IntervalSet all = wanted_;
  for (const Interval& run : waiting) all.add(run.begin, run.end);
  return all.all();
}

void ExtentState::plan_gap(std::uint64_t from, std::uint64_t to, std::vector<Segment>* segments,
                           std::vector<SpaceRequest>* requests) {
  while (from < to) {
    // Every piece starts at a multiple of 8 in the file. So if a segment does not begin at a
    // multiple of 8 in the extent, it must end where its window ends.
    const std::uint64_t window_end = (from / piece_size_ + 1) * piece_size_;
    std::uint64_t end = from % 8 == 0 ? to : std::min(to, window_end);
    std::uint64_t tail = 0;
    if (!segments->empty()) {
      const Segment& before = segments->back();
      const bool whole_windows = before.logical % 8 == 0;
      const bool one_window = before.logical / piece_size_ == from / piece_size_;
      if (before.fresh && before.position != 0 && before.end() == from &&
          (whole_windows || one_window)) {
        tail = before.position + before.length;
        if (!whole_windows) end = std::min(end, window_end);
      }
    }
    requests->push_back({end - from, tail});
    planned_.push_back({segments->size(), {}, false, false});
    segments->push_back({from, end - from, 0, true, 0, 0});
    from = end;
  }
}

// Returns the parts of `intervals` that have no uncommitted space. Other ranks may request places
// for bytes that already have space, because a rank does not know all space that is planned.
std::vector<Interval> ExtentState::without_fresh(std::span<const Interval> intervals) const {
  IntervalSet wanted;
  for (const Interval& interval : intervals) wanted.add(interval.begin, interval.end);
  for (const Segment& segment : segments_)
    if (segment.fresh) wanted.remove(segment.logical, segment.end());
  return wanted.all();
}

// Extends `intervals` by short gaps in which nothing is stored: between two intervals and, among
// the new bytes, also before the first and after the last interval. Such gaps are the padding of
// records, small variables without values, or elements that a stride skips.
std::vector<Interval> ExtentState::with_small_gaps(std::span<const Interval> intervals) const {
  std::vector<Interval> out;
  for (Interval interval : intervals) {
    const std::uint64_t before = std::max(out.empty() ? 0 : out.back().end, first_new_);
    if (interval.begin > before && interval.begin - before < kSmallGap) interval.begin = before;
    if (!out.empty() && interval.begin - out.back().end < kSmallGap &&
        is_gap(out.back().end, interval.begin))
      interval.begin = out.back().end;
    if (!out.empty() && out.back().end == interval.begin)
      out.back().end = interval.end;
    else
      out.push_back(interval);
  }
  if (!out.empty() && out.back().end > first_new_ && length_ - out.back().end < kSmallGap)
    out.back().end = length_;
  return out;
}

Result<std::vector<SpaceRequest>> ExtentState::plan_places(std::span<const Interval> asked) {
  if (!asked.empty()) NMB_TRY(load(asked.front().begin));
  const std::vector<Interval> intervals = with_small_gaps(without_fresh(asked));
  if (!intervals.empty()) NMB_TRY(load(intervals.front().begin));
  std::vector<SpaceRequest> requests;
  std::vector<Segment> segments;
  IntervalSet wanted;
  for (const Interval& interval : intervals) wanted.add(interval.begin, interval.end);
  planned_.clear();
  std::size_t next = 0;
  auto keep_until = [&](std::uint64_t at) {
    for (; next < segments_.size() && segments_[next].end() <= at; ++next) {
      const Segment& segment = segments_[next];
      if (!segment.fresh && (segment.cut != 0 || wanted.touches(segment.logical, segment.end()))) {
        const bool copied = !wanted.gaps(segment.logical, segment.end()).empty();
        // The segment of a coded piece may cross windows (ranges between multiples of the piece
        // size). Then several new segments may replace it: as in plan_gap(), a new segment that
        // does not begin at a multiple of 8 ends where its window ends.
        for (std::uint64_t from = segment.logical; from < segment.end();) {
          const std::uint64_t window_end = (from / piece_size_ + 1) * piece_size_;
          const std::uint64_t to =
              from % 8 == 0 ? segment.end() : std::min(segment.end(), window_end);
          planned_.push_back({segments.size(), segment, copied, to == segment.end()});
          requests.push_back({to - from, 0});
          segments.push_back({from, to - from, 0, true, 0, 0});
          from = to;
        }
        continue;
      }
      segments.push_back(segment);
    }
  };
  for (const Interval& interval : intervals) {
    for (std::uint64_t at = interval.begin; at < interval.end;) {
      keep_until(at);
      const bool last = next == segments_.size();
      if (last || segments_[next].logical > at) {
        const std::uint64_t to =
            last ? interval.end : std::min(interval.end, segments_[next].logical);
        plan_gap(at, to, &segments, &requests);
        at = to;
      } else {
        at = segments_[next].end();
      }
    }
  }
  keep_until(~std::uint64_t{0});
  segments_ = std::move(segments);
  return requests;
}

Status ExtentState::take_places(std::span<const std::uint64_t> positions, WriteBuffer& file,
                                DeadPieces& dead) {
  assert(positions.size() == planned_.size());
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    const Planned& planned = planned_[i];
    Segment& segment = segments_[planned.segment];
    segment.position = positions[i];
    if (planned.old.length == 0) continue;
    const Segment& old = planned.old;
    replaced_.add(segment.logical, segment.end());
    readable_.add(segment.logical, segment.end());
    if (planned.copied) {
      bytes.resize(segment.length);
      NMB_TRY(read_segment(old, segment.logical, bytes, file));
      NMB_TRY(file.write_at(segment.position, bytes));
      written_.add(segment.logical, segment.end());
    }
    if (planned.last) dead.piece_died(old.piece());
  }
  planned_.clear();
  join_segments();
  return {};
}

std::vector<Interval> ExtentState::replaced_in(std::span<const Segment> places) const {
  std::vector<Interval> out;
  for (const Segment& place : places) {
    std::uint64_t at = place.logical;
    for (const Interval& gap : replaced_.gaps(place.logical, place.end())) {
      if (gap.begin > at) out.push_back({at, gap.begin});
      at = gap.end;
    }
    if (at < place.end()) out.push_back({at, place.end()});
  }
  return out;
}

// Joins uncommitted segments that are adjacent both in the extent and in the file.
void ExtentState::join_segments() {
  std::size_t kept = 0;
  for (const Segment& segment : segments_) {
    if (kept > 0) {
      Segment& before = segments_[kept - 1];
      const bool one_window = before.logical / piece_size_ == (segment.end() - 1) / piece_size_;
      if (before.fresh && segment.fresh && before.end() == segment.logical &&
          before.position + before.length == segment.position &&
          (before.logical % 8 == 0 || one_window)) {
        before.length += segment.length;
        continue;
      }
    }
    segments_[kept++] = segment;
  }
  segments_.resize(kept);
}

std::vector<ExtentState::Segment> ExtentState::places_of(
    std::span<const Interval> intervals) const {
  std::vector<Segment> places;
  std::size_t next = 0;
  // Sends the places of whole windows, so that a piece has the same bytes on all ranks.
  for (const Interval& interval : intervals) {
    next = std::max(next, first_segment_at(interval.begin / piece_size_ * piece_size_));
    const std::uint64_t end = round_up(interval.end, piece_size_);
    for (; next < segments_.size() && segments_[next].logical < end; ++next)
      if (segments_[next].fresh) places.push_back(segments_[next]);
  }
  return places;
}

Status ExtentState::take_places(const std::vector<Segment>& places) {
  if (places.empty()) return {};
  NMB_TRY(load(places.front().logical));
  // The received segments replace the segments of this state that they overlap. A committed piece
  // is replaced as a whole. An uncommitted segment keeps the parts that do not overlap.
  std::vector<Segment> merged = places;
  for (const Segment& segment : segments_) {
    auto place = std::ranges::upper_bound(places, segment.logical, {}, &Segment::end);
    const bool touched = place != places.end() && place->logical < segment.end();
    if (!touched) merged.push_back(segment);
    if (!touched || !segment.fresh) continue;
    auto keep = [&](std::uint64_t from, std::uint64_t to) {
      Segment part = segment;
      part.logical = from;
      part.length = to - from;
      part.position += from - segment.logical;
      if (from < to) merged.push_back(part);
    };
    std::uint64_t at = segment.logical;
    for (; place != places.end() && place->logical < segment.end(); ++place) {
      keep(at, std::max(at, place->logical));
      at = place->end();
    }
    keep(at, std::max(at, segment.end()));
  }
  std::ranges::sort(merged, {}, &Segment::logical);
  segments_ = std::move(merged);
  join_segments();
  length_ = std::max(length_, segments_.back().end());
  return {};
}

std::vector<ExtentState::Staged> ExtentState::take_staged(const IntervalSet& skip) {
  std::vector<Staged> out;
  out.reserve(staged_.size());
  for (const auto& [offset, run] : staged_)
    for (const Interval& part : skip.gaps(offset, offset + run.length))
      out.push_back({part.begin, part.end - part.begin, run.place + (part.begin - offset)});
  staged_.clear();
  wanted_.clear();
  wants_records_ = false;
  return out;
}

Status ExtentState::write_staged(const Staged& run, const WriteAt& write, const Stage& staged) {
  // Whole pieces are written at once unless they are long, because write_fresh() computes their
  // sums.
  constexpr std::uint64_t kMostAtOnce = 16 << 20;
  const std::uint64_t window = std::clamp<std::uint64_t>(piece_size_, kBuffer, kMostAtOnce);
  const std::uint64_t end = run.offset + run.length;
  std::vector<std::byte> bytes;
  for (std::uint64_t at = run.offset; at < end;) {
    const Segment& segment = segments_[first_segment_at(at)];
    assert(segment.fresh && segment.logical <= at);
    const std::uint64_t to = std::min({end, segment.end(), (at / window + 1) * window});
    bytes.resize(to - at);
    NMB_TRY(staged.read(run.place + (at - run.offset), bytes));
    NMB_TRY(write_fresh(segment, at, bytes, write));
    at = to;
  }
  return {};
}

Written ExtentState::take_written() {
  for (const Interval& part : written_.bytes().all()) readable_.add(part.begin, part.end);
  return std::exchange(written_, {});
}

std::vector<Interval> ExtentState::newly_written() {
  std::vector<Interval> added;
  for (const Interval& part : written_.bytes().all())
    for (const Interval& gap : exchanged_.gaps(part.begin, part.end)) added.push_back(gap);
  for (const Interval& part : added) exchanged_.add(part.begin, part.end);
  return added;
}

std::vector<Interval> ExtentState::unwritten(std::uint64_t from, std::uint64_t to) const {
  std::vector<Interval> gaps = written_.bytes().gaps(from, to);
  if (readable_.empty()) return gaps;
  std::vector<Interval> out;
  for (const Interval& gap : gaps)
    for (const Interval& part : readable_.gaps(gap.begin, gap.end)) out.push_back(part);
  return out;
}

std::vector<Interval> ExtentState::stored_in(std::uint64_t from, std::uint64_t to) const {
  assert(from >= std::min(to, loaded_from_));
  std::vector<Interval> out;
  for (std::size_t i = first_segment_at(from); i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.logical >= to) break;
    const std::uint64_t begin = std::max(from, segment.logical);
    const std::uint64_t end = std::min(to, segment.end());
    if (!segment.fresh) {
      out.push_back({begin, end});
      continue;
    }
    std::uint64_t at = begin;
    for (const Interval& gap : unwritten(begin, end)) {
      if (gap.begin > at) out.push_back({at, gap.begin});
      at = gap.end;
    }
    if (at < end) out.push_back({at, end});
  }
  return out;
}

Status ExtentState::get(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
                        const Stage& stage, const FillBytes& fill) {
  NMB_TRY(load(offset));
  const std::uint64_t end = offset + out.size();
  const auto part_of = [&](std::uint64_t from, std::uint64_t to) {
    return out.subspan(from - offset, to - from);
  };
  std::uint64_t filled = offset;
  for (const Interval& part : stored_in(offset, end)) {
    if (part.begin > filled) fill(filled, part_of(filled, part.begin));
    for (std::uint64_t at = part.begin; at < part.end;) {
      const Segment& segment = segments_[first_segment_at(at)];
      const std::uint64_t to = std::min(part.end, segment.end());
      if (segment.fresh)
        NMB_TRY(file.read_back(segment.position + (at - segment.logical), part_of(at, to)));
      else
        NMB_TRY(read_(at, part_of(at, to)));
      at = to;
    }
    filled = part.end;
  }
  if (filled < end) fill(filled, part_of(filled, end));
  auto run = staged_.upper_bound(offset);
  if (run != staged_.begin()) --run;
  for (; run != staged_.end() && run->first < end; ++run) {
    const std::uint64_t from = std::max(offset, run->first);
    const std::uint64_t to = std::min(end, run->first + run->second.length);
    if (from < to) NMB_TRY(stage.read(run->second.place + (from - run->first), part_of(from, to)));
  }
  return {};
}

Status ExtentState::read_segment(const Segment& segment, std::uint64_t offset,
                                 std::span<std::byte> out, WriteBuffer& file) const {
  const std::uint64_t from = offset - segment.logical;
  if (segment.file != 0)
    return Status(
        Code::kUnsupported, {}, kNoOffset, "",
        "cannot change a part of a piece that is in another file; use nmcat without --link to "
        "copy the values to this file");
  if (segment.fresh) return file.read_at(segment.position + from, out);
  // A committed piece is read whole, because its sum is checked before its bytes go to a new piece
  // with a new sum.
  if (decoded_position_ != segment.position) {
    decoded_position_ = 0;
    std::vector<std::byte> stored(segment.piece().stored_length());
    NMB_TRY(file.read_at(segment.position, stored));
    if (const std::uint64_t sum = sum_of(stored); sum != segment.sum)
      return Status(Code::kDamaged, {}, segment.position, "R-EX-5",
                    "found values with " + sum_text(sum) + ", expected " + sum_text(segment.sum));
    if (segment.codec == PieceCodec::kNone) {
      decoded_ = std::move(stored);
    } else {
      Result<std::vector<std::byte>> decoded =
          decode_piece(segment.codec, stored, segment.length + segment.cut);
      if (!decoded.ok()) return decoded.status().at({}, segment.position);
      decoded_ = std::move(*decoded);
    }
    decoded_position_ = segment.position;
  }
  std::memcpy(out.data(), decoded_.data() + from, out.size());
  if (from + out.size() == segment.length) {
    decoded_ = {};
    decoded_position_ = 0;
  }
  return {};
}

Status ExtentState::read(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
                         const FillPattern& fill) {
  NMB_TRY(load(offset));
  fill.fill(offset, out);
  for (const Interval& part : stored_in(offset, offset + out.size())) {
    for (std::uint64_t at = part.begin; at < part.end;) {
      const Segment& segment = segments_[first_segment_at(at)];
      const std::uint64_t to = std::min(part.end, segment.end());
      NMB_TRY(read_segment(segment, at, out.subspan(at - offset, to - at), file));
      at = to;
    }
  }
  return {};
}

Result<FinishedExtent> ExtentState::finish(WriteBuffer& file, const FillPattern& fill, bool whole) {
  const bool stays = is_committed_ && first_new_ == committed_length_ &&
                     std::ranges::none_of(segments_, [&](const Segment& segment) {
                       return segment.fresh && segment.logical < committed_length_;
                     });
  FinishedExtent finished{{}, stays && !whole};
  std::vector<Piece>& pieces = finished.pieces;
  if (!finished.appended) NMB_TRY(load(0));
  std::uint64_t at = finished.appended ? committed_length_ : 0;
  auto add_hole = [&](std::uint64_t to) {
    if (to <= at) return;
    if (!pieces.empty() && pieces.back().hole)
      pieces.back().length += to - at;
    else
      pieces.push_back({at, to - at, true, 0, 0});
    at = to;
  };
  std::vector<std::byte> buffer;
  for (const Segment& segment : segments_) {
    if (segment.end() <= at) continue;
    add_hole(std::min(segment.logical, length_));
    if (!segment.fresh) {
      pieces.push_back(segment.piece());
      at = segment.end();
      continue;
    }
    const std::uint64_t segment_end = std::min(segment.end(), length_);
    while (at < segment_end) {
      const std::uint64_t end = std::min(segment_end, (at / piece_size_ + 1) * piece_size_);
      if (!written_.bytes().touches(at, end)) {
        add_hole(end);
        continue;
      }
      const std::uint64_t position = segment.position + (at - segment.logical);
      for (const Interval& gap : written_.bytes().gaps(at, end)) {
        for (std::uint64_t from = gap.begin; from < gap.end;) {
          buffer.resize(std::min<std::uint64_t>(gap.end - from, kBuffer));
          fill.fill(from, buffer);
          NMB_TRY(file.write_at(position + (from - at), buffer));
          from += buffer.size();
        }
      }
      std::uint64_t sum;
      if (const std::optional<std::uint64_t> known = written_.sum_of(at, end)) {
        sum = *known;
      } else {
        NMB_ASSIGN(sum, sum_in_file(file, position, end - at));
      }
      pieces.push_back({at, end - at, false, position, sum});
      at = end;
    }
  }
  add_hole(length_);
  return finished;
}

}  // namespace nmb
