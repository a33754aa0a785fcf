// Checks boxes on a grid. The edges of all boxes form the lines of this grid (see
// merge/uniting/tile_cover.h).
#include "merge/uniting/tile_cover.h"

#include <algorithm>

namespace nmb {

namespace {

constexpr std::uint64_t kMostCells = 1 << 22;

// The cells into which the edges of boxes divide an array.
class Cells {
 public:
  Cells(const TileBoxes& boxes, std::span<const std::uint32_t> present) : ends_(boxes.rank()) {
    for (std::size_t d = 0; d < ends_.size(); ++d) {
      std::vector<std::uint64_t>& ends = ends_[d];
      ends = {0, boxes.shape[d]};
      for (const std::uint32_t box : present) {
        ends.push_back(boxes.firsts(box)[d]);
        ends.push_back(boxes.firsts(box)[d] + boxes.counts(box)[d]);
      }
      std::ranges::sort(ends);
      ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
      lengths_.push_back(ends.size() - 1);
    }
  }

  // Returns the number of cells, but at most kMostCells + 1.
  std::uint64_t count() const {
    std::uint64_t cells = 1;
    for (const std::uint64_t length : lengths_) cells = std::min(cells * length, kMostCells + 1);
    return cells;
  }
  // Calls visit(cell) for all cells of a box.
  template <class Visit>
  void for_each_of(const TileBoxes& boxes, std::uint32_t box, Visit visit) const {
    Bounds bounds;
    for (std::size_t d = 0; d < ends_.size(); ++d) {
      const std::uint64_t first = boxes.firsts(box)[d];
      bounds.emplace_back(place_of(d, first), place_of(d, first + boxes.counts(box)[d]));
    }
    walk(bounds, 0, 0, visit);
  }
  TileRegion region_of(std::uint64_t cell, std::uint64_t count) const {
    TileRegion region(ends_.size());
    for (std::size_t d = ends_.size(); d-- > 0;) {
      const std::uint64_t at = cell % lengths_[d];
      const std::uint64_t more = d + 1 == ends_.size() ? count : 1;
      region[d] = {ends_[d][at], ends_[d][at + more] - ends_[d][at]};
      cell /= lengths_[d];
    }
    return region;
  }
  std::uint64_t row_length() const { return lengths_.back(); }

 private:
  using Bounds = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  std::uint64_t place_of(std::size_t d, std::uint64_t end) const {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(ends_[d], end) - ends_[d].begin());
  }
  template <class Visit>
  void walk(const Bounds& bounds, std::size_t d, std::uint64_t before, Visit& visit) const {
    for (std::uint64_t at = bounds[d].first; at < bounds[d].second; ++at) {
      const std::uint64_t cell = before * lengths_[d] + at;
      if (d + 1 == bounds.size())
        visit(cell);
      else
        walk(bounds, d + 1, cell, visit);
    }
  }

  std::vector<std::vector<std::uint64_t>> ends_;  // the edges along each dimension
  std::vector<std::uint64_t> lengths_;            // number of cells along each dimension
};

}  // namespace

Result<TileCover> cover_of(const TileBoxes& boxes, std::span<const std::uint32_t> present) {
  TileCover cover;
  if (std::ranges::count(boxes.shape, 0u) > 0) return cover;
  const Cells cells(boxes, present);
  const std::uint64_t count = cells.count();
  if (count > kMostCells)
    return Status(Code::kLimit, "the edges of the tiles divide the array into more than " +
                                    std::to_string(kMostCells) + " cells");
  std::vector<bool> taken(count);
  for (const std::uint32_t box : present) {
    bool overlaps = false;
    cells.for_each_of(boxes, box, [&](std::uint64_t cell) {
      overlaps = overlaps || taken[cell];
      taken[cell] = true;
    });
    if (overlaps) cover.overlapping.push_back(box);
  }
  // Missing cells along the last dimension are reported together.
  for (std::uint64_t cell = 0; cell < count;) {
    std::uint64_t length = 0;
    const std::uint64_t row_end = (cell / cells.row_length() + 1) * cells.row_length();
    while (cell + length < row_end && !taken[cell + length]) ++length;
    if (length > 0) cover.gaps.push_back(cells.region_of(cell, length));
    cell += std::max<std::uint64_t>(length, 1);
  }
  return cover;
}

}  // namespace nmb
