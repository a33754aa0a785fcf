#include "sources/selected_values.h"

#include <algorithm>
#include <cstring>

namespace nmb {

namespace {

// Values that are close together in the source are read at once.
class Gatherer {
 public:
  explicit Gatherer(const ByteSource& source) : source_(source) {}

  Status add(std::uint64_t from, std::span<std::byte> out) {
    constexpr std::uint64_t kMostGap = 4096, kMostRead = 1 << 20;
    const bool joins = !pieces_.empty() && from >= end_ && from - end_ <= kMostGap &&
                       from + out.size() - begin_ <= kMostRead;
    if (!joins) {
      NMB_TRY(flush());
      begin_ = end_ = from;
    }
    if (joins && from == end_ && out.data() == pieces_.back().end())
      pieces_.back().length += out.size();
    else
      pieces_.push_back({from, out.data(), out.size()});
    end_ = from + out.size();
    return {};
  }

  Status flush() {
    if (pieces_.empty()) return {};
    if (pieces_.size() == 1) {
      NMB_TRY(source_.read_at(begin_, {pieces_[0].to, pieces_[0].length}));
    } else {
      bytes_.resize(end_ - begin_);
      NMB_TRY(source_.read_at(begin_, bytes_));
      for (const Piece& piece : pieces_)
        std::memcpy(piece.to, bytes_.data() + (piece.from - begin_), piece.length);
    }
    pieces_.clear();
    return {};
  }

 private:
  struct Piece {
    std::uint64_t from;
    std::byte* to;
    std::size_t length;
    std::byte* end() const { return to + length; }
  };

  const ByteSource& source_;
  std::uint64_t begin_ = 0, end_ = 0;  // in the source
  std::vector<Piece> pieces_;
  std::vector<std::byte> bytes_;
};

// A position in the selected indexes of an axis.
struct Cursor {
  const SelectedValues::Axis& axis;
  std::size_t run = 0;
  std::uint64_t at = 0;  // in the run

  void go_to(std::uint64_t position) {
    for (at = position; at >= axis.runs[run].count; ++run) at -= axis.runs[run].count;
  }
  // Returns false at the end of the axis, where it starts again.
  bool advance(std::uint64_t count) {
    at += count;
    while (run < axis.runs.size() && at >= axis.runs[run].count) at -= axis.runs[run++].count;
    if (run < axis.runs.size()) return true;
    run = at = 0;
    return false;
  }
  std::uint64_t offset() const {
    const IndexRun& here = axis.runs[run];
    return (here.first + at * here.stride) * axis.step;
  }
};

}  // namespace

std::uint64_t SelectedValues::size() const {
  std::uint64_t bytes = value_size;
  for (const Axis& axis : axes) bytes *= count_of(axis.runs);
  return bytes;
}

Status SelectedValues::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return {};
  // Values that are adjacent both in the source and in the result are one unit.
  std::uint64_t unit = value_size, base = begin;
  std::size_t rank = axes.size();
  for (; rank > 0; --rank) {
    const Axis& axis = axes[rank - 1];
    if (axis.runs.size() != 1 || axis.runs[0].stride != 1 || axis.step != unit) break;
    base += axis.runs[0].first * axis.step;
    unit *= axis.runs[0].count;
  }
  std::vector<Cursor> cursors;
  for (std::size_t i = 0; i < rank; ++i) cursors.push_back({axes[i]});
  std::uint64_t in_unit = offset % unit, units = offset / unit;
  for (std::size_t i = rank; i-- > 0;) {
    const std::uint64_t count = count_of(axes[i].runs);
    cursors[i].go_to(units % count);
    units /= count;
  }
  Gatherer gatherer(*source);
  while (!out.empty()) {
    std::uint64_t from = base + in_unit, length = unit - in_unit;
    for (const Cursor& cursor : cursors) from += cursor.offset();
    if (rank > 0) {
      const Cursor& fastest = cursors.back();
      const IndexRun& run = fastest.axis.runs[fastest.run];
      if (run.stride == 1 && fastest.axis.step == unit)
        length += (run.count - fastest.at - 1) * unit;
    }
    const auto here = out.first(std::min<std::uint64_t>(length, out.size()));
    NMB_TRY(gatherer.add(from, here));
    out = out.subspan(here.size());
    std::uint64_t done = (in_unit + here.size()) / unit;
    in_unit = (in_unit + here.size()) % unit;
    for (std::size_t i = rank; i-- > 0 && done > 0;) done = cursors[i].advance(done) ? 0 : 1;
  }
  return gatherer.flush();
}

}  // namespace nmb
