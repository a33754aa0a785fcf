// Unites tiles. Each tile is a dataset that has only a part of some dimensions (see
// merge/uniting/dataset_union.h).
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "merge/uniting/dataset_union.h"
#include "merge/uniting/value_comparison.h"
#include "model/values.h"
#include "sources/selected_values.h"
#include "sources/tiled_values.h"
#include "sources/value_source.h"

namespace nmb {

std::vector<DimId> DatasetUnion::dimension_ids(VarId variable) const {
  const auto ids = all_.metadata.variable(variable).dimensions;
  return {ids.begin(), ids.end()};
}

std::vector<std::uint64_t> DatasetUnion::shape_of(VarId variable) const {
  std::vector<std::uint64_t> shape;
  for (const DimId id : all_.metadata.variable(variable).dimensions) shape.push_back(length_of(id));
  return shape;
}

// Returns the number of the box that the last dataset fills in the array of a variable.
std::uint32_t DatasetUnion::box_here(VarId variable) {
  Tiling& tiling = tiling_of(variable);
  std::vector<std::uint64_t> firsts, counts;
  for (const DimId id : all_.metadata.variable(variable).dimensions) {
    firsts.push_back(joined_[id].is ? joined_[id].firsts.back() : 0);
    counts.push_back(joined_[id].is ? joined_[id].counts.back() : length_of(id));
  }
  std::vector<std::uint64_t> bounds = std::move(firsts);
  bounds.insert(bounds.end(), counts.begin(), counts.end());
  if (!tiling.boxes) tiling.boxes = std::make_shared<TileBoxes>(TileBoxes{shape_of(variable)});
  const auto [known, is_new] =
      tiling.known.emplace(bounds, static_cast<std::uint32_t>(tiling.known.size()));
  if (is_new) tiling.boxes->bounds.insert(tiling.boxes->bounds.end(), bounds.begin(), bounds.end());
  return known->second;
}

void DatasetUnion::add_place(VarId variable, DatasetValues place) {
  Placed& placed = placed_[variable];
  if (is_tiled() && !placed.axes.empty()) {
    place.box = box_here(variable);
    if (place.box >= placed.place_of_box.size())
      placed.place_of_box.resize(place.box + 1, kNoPlace);
    placed.place_of_box[place.box] = static_cast<std::uint32_t>(placed.places.size());
  }
  placed.places.push_back(place);
}

// Returns the place in an earlier dataset that has the same box of the variable as the last
// dataset, or nullptr if no earlier dataset has this box. If the variable is not divided, the box
// is the whole variable.
const DatasetUnion::DatasetValues* DatasetUnion::place_here(VarId variable) {
  const Placed& placed = placed_[variable];
  if (placed.axes.empty()) return &placed.places.front();
  if (!is_tiled()) return nullptr;
  const std::uint32_t box = box_here(variable);
  if (box >= placed.place_of_box.size() || placed.place_of_box[box] == kNoPlace) return nullptr;
  return &placed.places[placed.place_of_box[box]];
}

// Returns the values of a variable where no input has values. If the variable has no _FillValue,
// missing_value is used.
Source DatasetUnion::fill_of(VarId variable) const {
  if (own_.contains(variable)) return source_of(form::Repeated{own_fill_of(variable)});
  const Type type = all_.metadata.variable(variable).type;
  if (!all_.metadata.find_attribute(variable, "_FillValue"))
    if (const auto missing = all_.metadata.find_attribute(variable, "missing_value");
        missing && missing->type == type && missing->count == 1)
      return source_of(form::Repeated{{missing->values.begin(), missing->values.end()}});
  return source_of(form::Repeated{fill_value(all_.metadata, variable)});
}

// Returns the values of a variable in its first `count` tiles. last_wins: whether the values of the
// last of these tiles are used wherever tiles overlap.
std::shared_ptr<const TiledValues> DatasetUnion::tiled_values(VarId variable, std::size_t count,
                                                              bool last_wins, bool fills) const {
  const Placed& placed = placed_[variable];
  const Tiling& tiling = tilings_.at(dimension_ids(variable));
  std::vector<Tile> tiles;
  for (const DatasetValues& place : std::span(placed.places).first(count)) {
    std::uint64_t offset, step;
    Source values = values_of(variable, place, &offset, &step);
    tiles.push_back({std::move(values), offset, place.is_record ? step : 0, place.box});
  }
  if (last_wins) std::rotate(tiles.rbegin(), tiles.rbegin() + 1, tiles.rend());
  return std::make_shared<const TiledValues>(
      TiledValues{tiling.boxes, type_size(all_.metadata.variable(variable).type), std::move(tiles),
                  fills ? fill_of(variable) : nullptr, "tiles"});
}

// Checks that the files together cover the whole lengths of the given dimensions.
Status DatasetUnion::check_files(const std::vector<DimId>& dimensions) {
  TileBoxes boxes;
  for (const DimId id : dimensions) boxes.shape.push_back(length_of(id));
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (std::ranges::any_of(dimensions, [&](DimId id) { return joined_[id].counts[m] == 0; }))
      continue;
    for (const DimId id : dimensions) boxes.bounds.push_back(joined_[id].firsts[m]);
    for (const DimId id : dimensions) boxes.bounds.push_back(joined_[id].counts[m]);
  }
  std::vector<std::uint32_t> all(boxes.size());
  std::iota(all.begin(), all.end(), 0u);
  NMB_ASSIGN(const TileCover cover, cover_of(boxes, all));
  for (const TileRegion& gap : cover.gaps) {
    std::string where;
    for (std::size_t d = 0; d < gap.size(); ++d) {
      const auto [first, count] = gap[d];
      where += where.empty() ? "" : ", ";
      where.append(all_.metadata.dimension(dimensions[d]).name) +=
          " " + std::to_string(first + 1) + " to " + std::to_string(first + count);
    }
    tell(rules_.fills ? UnionNote::What::kFilled : UnionNote::What::kConflict,
         ConflictKind::kMissingTile, where, "no file with this tile", "one file", 0, 0);
  }
  return {};
}

// Checks that the tile at index `place` has the same values as earlier tiles wherever it overlaps
// an earlier tile.
Status DatasetUnion::compare_tiles(VarId variable, std::uint32_t place) {
  const DatasetValues& last = placed_[variable].places[place];
  const auto before = tiled_values(variable, place + 1, false, true);
  const auto behind = tiled_values(variable, place + 1, true, true);
  const Type type = all_.metadata.variable(variable).type;
  const Tile tile{nullptr, 0, 0, last.box};
  const auto [from, until] = before->range_of(tile);
  NMB_ASSIGN(const auto differs,
             first_difference({source_of(behind).get(), from, 0},
                              {source_of(before).get(), from, 0}, type, 1, until - from));
  if (!differs) return {};
  ValuesDiffer in_all = *differs;
  in_all.element += from / type_size(type);
  std::vector<IndexRange> ranges;
  for (const std::uint64_t length : shape_of(variable)) ranges.push_back({0, length});
  const auto [found, expected] = difference_text(in_all, type, ranges);
  const std::size_t first = before->tile_of(in_all.element);
  tell(UnionNote::What::kConflict, ConflictKind::kValues, all_.metadata.variable(variable).name,
       found, expected, placed_[variable].places[first].member, last.member);
  return {};
}

// Does the same as compare_tiles() for values of the variable's own type.
Status DatasetUnion::compare_own_tiles(VarId variable, std::uint32_t place) {
  const Placed& placed = placed_[variable];
  const TileBoxes& boxes = *tilings_.at(dimension_ids(variable)).boxes;
  const ClassicView::OwnValues& own = own_.at(variable);
  const DatasetValues& last = placed.places[place];
  for (std::uint32_t p = 0; p < place; ++p) {
    const DatasetValues& first = placed.places[p];
    std::vector<IndexRange> shared;
    for (std::size_t d = 0; d < boxes.rank(); ++d) {
      const auto begin_of = [&](std::uint32_t box) { return boxes.firsts(box)[d]; };
      const auto end_of = [&](std::uint32_t box) { return begin_of(box) + boxes.counts(box)[d]; };
      const std::uint64_t begin = std::max(begin_of(first.box), begin_of(last.box));
      const std::uint64_t end = std::min(end_of(first.box), end_of(last.box));
      if (begin < end) shared.push_back({begin, end - begin});
    }
    if (shared.size() < boxes.rank()) continue;
    const auto shared_values = [&](const DatasetValues& from) {
      std::uint64_t slice, step = 1;
      SelectedValues selected{stored_array(variable, from, &slice), 0, 1, {}};
      selected.axes.resize(boxes.rank());
      for (std::size_t d = boxes.rank(); d-- > 0;) {
        selected.axes[d] = {step, {{shared[d].first - boxes.firsts(from.box)[d], shared[d].count}}};
        step *= boxes.counts(from.box)[d];
      }
      return OwnArray{source_of(std::make_shared<const SelectedValues>(std::move(selected))),
                      members_[from.member].values, from.heap};
    };
    NMB_ASSIGN(const auto differs,
               first_difference(shared_values(last), shared_values(first), own.types, 0));
    if (!differs) continue;
    shared.pop_back();  // the last dimension is the bytes of a value
    tell(UnionNote::What::kConflict, ConflictKind::kValues, all_.metadata.variable(variable).name,
         differs->found + place_text(differs->element, shared), differs->expected, first.member,
         last.member);
    return {};
  }
  return {};
}

Status DatasetUnion::check_tiles(bool with_values) {
  if (!is_tiled()) return {};
  std::set<std::vector<DimId>> checked;
  for (VarId variable = 0; variable < placed_.size(); ++variable) {
    Placed& placed = placed_[variable];
    if (placed.axes.empty()) continue;
    std::vector<DimId> tiled;
    for (const std::uint32_t axis : placed.axes) tiled.push_back(dimension_ids(variable)[axis]);
    std::ranges::sort(tiled);  // variables with the same dimensions in another order are checked
                               // only once
    if (checked.insert(tiled).second) NMB_TRY(check_files(tiled));
    if (!with_values) continue;
    std::vector<std::uint32_t> boxes;
    for (const DatasetValues& place : placed.places) boxes.push_back(place.box);
    NMB_ASSIGN(const TileCover cover, cover_of(*tilings_.at(dimension_ids(variable)).boxes, boxes));
    placed.has_gaps = !cover.gaps.empty();
    const ClassicView::OwnValues* const own = own_of(variable);
    for (const std::uint32_t box : cover.overlapping)
      if (!rules_.agreement.first_values && own)
        NMB_TRY(compare_own_tiles(variable, placed.place_of_box[box]));
      else if (!rules_.agreement.first_values)
        NMB_TRY(compare_tiles(variable, placed.place_of_box[box]));
      else
        tell(UnionNote::What::kShared, ConflictKind::kValues, all_.metadata.variable(variable).name,
             "values of an overlapping tile, which are not compared",
             "the values of the first file", placed.places.front().member,
             placed.places[placed.place_of_box[box]].member);
  }
  return {};
}

}  // namespace nmb
