// A block's values while they are being written (spec/format.md, section 10.1).
#include "writer/extent_state.h"

#include <algorithm>
#include <cstring>

#include "wire/checked.h"
#include "wire/hash.h"

namespace nmb {

namespace {
constexpr std::size_t kBuffer = 1 << 20;
constexpr std::uint64_t kSmallGrowth = 64 << 10;
}  // namespace

Result<std::uint64_t> sum_in_file(WriteBuffer& file, std::uint64_t position, std::uint64_t length) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(length, kBuffer));
  SumStream stream;
  for (std::uint64_t done = 0; done < length;) {
    auto part = std::span(buffer).first(std::min<std::uint64_t>(length - done, kBuffer));
    NMB_TRY(file.read_at(position + done, part));
    stream.add(part);
    done += part.size();
  }
  return stream.sum();
}

void ExtentState::start_run(std::uint64_t length, std::uint64_t position) {
  length_ = length;
  segments_.clear();
  if (length > 0) segments_.push_back({0, length, position, true, 0});
}

void ExtentState::start_committed(std::uint64_t length, const std::vector<Piece>& pieces) {
  length_ = length;
  segments_.clear();
  written_.clear();
  sums_.clear();
  for (const Piece& piece : pieces)
    if (!piece.hole)
      segments_.push_back({piece.logical, piece.length, piece.position, false, piece.sum});
}

std::size_t ExtentState::first_segment_at(std::uint64_t offset) const {
  auto it =
      std::upper_bound(segments_.begin(), segments_.end(), offset,
                       [](std::uint64_t at, const Segment& segment) { return at < segment.end(); });
  return static_cast<std::size_t>(it - segments_.begin());
}

void ExtentState::forget_sums(std::uint64_t from, std::uint64_t to) {
  if (sums_.empty()) return;
  auto it = sums_.lower_bound(from / piece_size_ * piece_size_);
  while (it != sums_.end() && it->first < to) it = sums_.erase(it);
}

Status ExtentState::make_fresh(std::size_t index, std::uint64_t new_length, WriteBuffer& file,
                               SpaceAllocator& space) {
  const Segment old = segments_[index];
  std::vector<std::byte> bytes(new_length);
  NMB_TRY(file.read_at(old.position, bytes));
  space.piece_died({old.logical, old.length, false, old.position, old.sum});
  const std::uint64_t position = space.allocate(new_length, extent_alignment(new_length));
  NMB_TRY(file.write_at(position, bytes));
  segments_[index] = {old.logical, new_length, position, true, 0};
  written_.add(old.logical, old.logical + new_length);
  return {};
}

// Bytes of a segment that is not committed belong to nothing when it is cut: they must be zero.
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

Status ExtentState::resize(std::uint64_t length, WriteBuffer& file, SpaceAllocator& space) {
  if (length < length_) {
    while (!segments_.empty() && segments_.back().logical >= length) {
      const Segment& last = segments_.back();
      if (last.fresh)
        NMB_TRY(clear(last, last.logical, file));
      else
        space.piece_died({last.logical, last.length, false, last.position, last.sum});
      segments_.pop_back();
    }
    if (!segments_.empty() && segments_.back().end() > length) {
      Segment& last = segments_.back();
      if (last.fresh) {
        NMB_TRY(clear(last, length, file));
        last.length = length - last.logical;
      } else {
        NMB_TRY(make_fresh(segments_.size() - 1, length - last.logical, file, space));
      }
    }
    written_.remove(length, ~std::uint64_t{0});
    forget_sums(length, ~std::uint64_t{0});
  }
  length_ = length;
  return {};
}

void ExtentState::allocate_gap(std::size_t index, std::uint64_t from, std::uint64_t to,
                               std::uint64_t gap_end, SpaceAllocator& space) {
  // Every piece starts at a multiple of 8 in the file, so what begins elsewhere in the extent ends
  // with its window.
  const std::uint64_t window_end = (from / piece_size_ + 1) * piece_size_;
  // Continue the segment before if it was the last thing that took space.
  if (index > 0) {
    Segment& before = segments_[index - 1];
    const std::uint64_t limit =
        before.logical % 8 == 0 ? to
                                : std::min(to, (before.logical / piece_size_ + 1) * piece_size_);
    if (before.fresh && before.end() == from && limit > from &&
        space.extend(before.position, before.length, limit - from)) {
      before.length = limit - before.logical;
      return;
    }
  }
  if (from % 8 != 0) to = std::min(to, window_end);
  // Growth by small records sets more apart than it needs, up to the window's end.
  std::uint64_t want = std::max(to - from, std::min(kSmallGrowth, length_));
  if (to <= window_end) want = std::min(want, window_end - from);
  want = std::max(std::min(want, gap_end - from), to - from);
  const std::uint64_t position = space.allocate(want, extent_alignment(want));
  segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(index),
                   Segment{from, want, position, true, 0});
}

Status ExtentState::write(std::uint64_t offset, std::span<const std::byte> bytes, WriteBuffer& file,
                          SpaceAllocator& space) {
  std::uint64_t at = offset;
  const std::uint64_t end = offset + bytes.size();
  forget_sums(offset, end);
  while (at < end) {
    std::size_t index = first_segment_at(at);
    if (index == segments_.size() || segments_[index].logical > at) {
      const std::uint64_t gap_end =
          index == segments_.size() ? ~std::uint64_t{0} : segments_[index].logical;
      allocate_gap(index, at, std::min(end, gap_end), gap_end, space);
      continue;
    }
    if (!segments_[index].fresh) {
      NMB_TRY(make_fresh(index, segments_[index].length, file, space));
    }
    const Segment& segment = segments_[index];
    const std::uint64_t to = std::min(end, segment.end());
    auto part = bytes.subspan(at - offset, to - at);
    NMB_TRY(file.write_at(segment.position + (at - segment.logical), part));
    written_.add(at, to);
    // Windows that this part covers whole are summed in passing.
    for (std::uint64_t window = (at + piece_size_ - 1) / piece_size_ * piece_size_;
         window + piece_size_ <= to; window += piece_size_)
      sums_[window] = sum_of(part.subspan(window - at, piece_size_));
    at = to;
  }
  return {};
}

std::vector<Interval> ExtentState::stored_in(std::uint64_t from, std::uint64_t to) const {
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
    for (const Interval& gap : written_.gaps(begin, end)) {
      if (gap.begin > at) out.push_back({at, gap.begin});
      at = gap.end;
    }
    if (at < end) out.push_back({at, end});
  }
  return out;
}

Status ExtentState::read(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
                         const FillPattern& fill) const {
  fill.fill(offset, out);
  for (const Interval& part : stored_in(offset, offset + out.size())) {
    for (std::uint64_t at = part.begin; at < part.end;) {
      const Segment& segment = segments_[first_segment_at(at)];
      const std::uint64_t to = std::min(part.end, segment.end());
      NMB_TRY(file.read_at(segment.position + (at - segment.logical),
                           out.subspan(at - offset, to - at)));
      at = to;
    }
  }
  return {};
}

void ExtentState::put_written(MessageWriter& out) const {
  const std::vector<Interval> intervals = written_.all();
  out.put_bytes(std::as_bytes(std::span(intervals)));
  out.put<std::uint64_t>(sums_.size());
  for (const auto& [window, sum] : sums_) {
    out.put(window);
    out.put(sum);
  }
}

void ExtentState::take_written(MessageReader& in) {
  MessageReader intervals(in.get_bytes());
  std::map<std::uint64_t, std::uint64_t> sums;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    const auto window = in.get<std::uint64_t>();
    const auto sum = in.get<std::uint64_t>();
    if (!written_.touches(window, window + piece_size_)) sums.emplace(window, sum);
  }
  while (!intervals.at_end()) {
    const auto interval = intervals.get<Interval>();
    forget_sums(interval.begin, interval.end);
    written_.add(interval.begin, interval.end);
  }
  sums_.merge(sums);
}

Result<std::vector<Piece>> ExtentState::finish(WriteBuffer& file, const FillPattern& fill) {
  std::vector<Piece> pieces;
  std::uint64_t at = 0;
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
    add_hole(std::min(segment.logical, length_));
    if (!segment.fresh) {
      pieces.push_back({segment.logical, segment.length, false, segment.position, segment.sum});
      at = segment.end();
      continue;
    }
    const std::uint64_t segment_end = std::min(segment.end(), length_);
    while (at < segment_end) {
      const std::uint64_t end = std::min(segment_end, (at / piece_size_ + 1) * piece_size_);
      if (!written_.touches(at, end)) {
        add_hole(end);
        continue;
      }
      const std::uint64_t position = segment.position + (at - segment.logical);
      for (const Interval& gap : written_.gaps(at, end)) {
        for (std::uint64_t from = gap.begin; from < gap.end;) {
          buffer.resize(std::min<std::uint64_t>(gap.end - from, kBuffer));
          fill.fill(from, buffer);
          NMB_TRY(file.write_at(position + (from - at), buffer));
          from += buffer.size();
        }
      }
      std::uint64_t sum;
      if (auto known = sums_.find(at); known != sums_.end() && end - at == piece_size_) {
        sum = known->second;
      } else {
        NMB_ASSIGN(sum, sum_in_file(file, position, end - at));
      }
      pieces.push_back({at, end - at, false, position, sum});
      at = end;
    }
  }
  add_hole(length_);
  return pieces;
}

}  // namespace nmb
