#include "extent/piece_finder.h"

#include <algorithm>

namespace nmb {

PieceFinder::PieceFinder(const ByteSource& file, const ExternalFiles* external,
                         const Superblock& superblock, const BlockEntry& entry,
                         std::span<const GrowthRow> growth)
    : mapped_(entry.has_map()),
      growth_(growth),
      map_(file, external, superblock, entry.position, entry.map, entry.settled_length()) {
  settled_.length = entry.settled_length();
  settled_.hole = entry.hole;
  settled_.position = entry.hole ? 0 : entry.extent_position;
  settled_.sum = entry.extent_sum;
}

Status PieceFinder::for_each(std::uint64_t from, std::uint64_t to,
                             const std::function<Status(const Piece&)>& visit) const {
  if (from < settled_.length && from < to) {
    if (mapped_)
      NMB_TRY(map_.for_each(from, std::min(to, settled_.length), visit));
    else
      NMB_TRY(visit(settled_));
  }
  if (growth_.empty() || to <= settled_.length) return {};
  auto row = std::partition_point(growth_.begin(), growth_.end(),
                                  [&](const GrowthRow& r) { return r.piece.end() <= from; });
  for (; row != growth_.end() && row->piece.logical < to; ++row) NMB_TRY(visit(row->piece));
  return {};
}

Result<std::vector<Piece>> PieceFinder::all() const {
  std::vector<Piece> pieces;
  NMB_TRY(for_each(0, ~std::uint64_t{0}, [&](const Piece& piece) -> Status {
    pieces.push_back(piece);
    return {};
  }));
  return pieces;
}

}  // namespace nmb
