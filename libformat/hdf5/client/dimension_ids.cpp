#include "client/dimension_ids.h"

#include <algorithm>
#include <limits>
#include <span>

#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/group_order.h"
#include "netcdf/shared_dimensions.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Returns the names of all blocks, each before the blocks below it. The subgroups of a group are in
// the order of their links if HDF5 tracks that order, and otherwise in the order of their names.
// Reads the hdf5 sections of all blocks of kind 6. Errors: kDamaged, kIo.
Result<std::vector<std::string>> group_order(const NamedBlocks& blocks) {
  GroupTree tree;
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) {
      tree.add_classic(entry.name);
      return true;
    }
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks.block(entry));
    NMB_TRY(tree.add(*block));
    return true;
  }));
  return tree.in_order();
}

constexpr std::int64_t kMostDimensions = std::numeric_limits<std::int32_t>::max();

// Returns the name of the group above `block`, which must not be the root group.
std::string_view parent_of(std::string_view block) { return split_path(block).parent; }

// Encodes `numbers` as the new values of an attribute, in the byte order of the attribute's type.
std::vector<std::byte> as_stored(const Metadata& metadata, const Attribute& attribute,
                                 const std::vector<std::int64_t>& numbers) {
  const bool swapped = metadata.extension()->types.is_swapped(attribute.type);
  std::vector<std::byte> bytes(attribute.values.begin(), attribute.values.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(numbers[i]);
    if (swapped)
      store_le(bytes.data() + 4 * i, number);
    else
      store_be(bytes.data() + 4 * i, number);
  }
  return bytes;
}

}  // namespace

Result<DimensionIds> DimensionIds::plan(const NamedBlocks& blocks) {
  DimensionIds ids(blocks);
  NMB_TRY(ids.gather());
  NMB_TRY(ids.count_own());
  NMB_TRY(ids.order_blocks());
  bool are_unique = false;
  NMB_TRY(ids.keep_numbers(&are_unique));
  if (!are_unique) NMB_TRY(ids.count_anew());
  NMB_TRY(ids.find_shared());
  return ids;
}

Status DimensionIds::gather() {
  return source_blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) {
      if (entry.dimensions == 0) return true;
      Scales& scales = blocks_[entry.name];
      scales.classic_count = entry.dimensions;
      scales.numbers = static_cast<std::int64_t>(
          std::min<std::uint64_t>(entry.dimensions, static_cast<std::uint64_t>(kMostDimensions)));
      return true;
    }
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, source_blocks_.block(entry));
    const Metadata& metadata = block->metadata;
    if (std::vector<std::uint32_t> levels = levels_above(metadata); !levels.empty()) {
      Scales& scales = blocks_[entry.name];
      scales.classic_count = entry.dimensions;
      scales.levels = std::move(levels);
      return true;
    }
    for (VarId v = 0; v < metadata.variable_count(); ++v) {
      const Variable variable = metadata.variable(v);
      if (variable.dimensions.empty() || !is_dimension_scale(metadata, v)) continue;
      Scale scale{std::string(variable.name),
                  v,
                  metadata.dimension(variable.dimensions[0]).length,
                  {},
                  {},
                  0};
      if (metadata.dimension(variable.dimensions[0]).is_record()) scale.length = block->records;
      const std::vector<std::int64_t> id = integers(metadata, v, kDimensionId, 1);
      // If the stored number of a scale is negative, netCDF-C chooses another number for the scale.
      if (!id.empty() && id.front() >= 0) scale.own = id.front();
      some_count_ = some_count_ || !scale.own;
      Scales& scales = blocks_[entry.name];
      scales.places.emplace(scale.name, scales.scales.size());
      scales.scales.push_back(std::move(scale));
    }
    take_counted(*block);
    return true;
  });
}

// Some scales store no number, so netCDF-C chose their numbers in the source file. Finds these
// numbers where variables state them. Counting again might give other numbers, because some groups
// of the source file may be absent here.
void DimensionIds::take_counted(const LoadedBlock& block) {
  const auto known = blocks_.find(block.name);
  if (known == blocks_.end() ||
      std::ranges::all_of(known->second.scales, [](const Scale& s) { return s.own.has_value(); }))
    return;
  const Metadata& metadata = block.metadata;
  std::map<std::string, Scale*> uncounted;
  for (Scale& scale : known->second.scales)
    if (!scale.own) uncounted.emplace("/" + joined_path(block.name, scale.name), &scale);
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const std::size_t rank = metadata.variable(v).dimensions.size();
    const std::vector<std::int64_t> ids = integers(metadata, v, kCoordinates, rank);
    if (ids.empty()) continue;
    std::vector<std::string> paths = scale_paths(metadata, v, rank);
    if (is_dimension_scale(metadata, v))
      paths[0] = "/" + joined_path(block.name, metadata.variable(v).name);
    for (std::size_t i = 0; i < rank; ++i)
      if (const auto at = uncounted.find(paths[i]); at != uncounted.end() && ids[i] >= 0)
        at->second->counted = ids[i];
  }
}

Status DimensionIds::find_shared() {
  for (const auto& [name, scales] : blocks_) {
    if (scales.levels.empty()) continue;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, source_blocks_.block(name));
    NMB_ASSIGN(const auto above, dimensions_above(*block));
    for (const std::optional<Dimension>& dimension : above)
      if (dimension) shared_.insert(dimension->path);
  }
  return {};
}

// Counts the dimensions that classic datasets define themselves. Dimensions of groups above do not
// count, because they have numbers already.
Status DimensionIds::count_own() {
  for (auto& [name, scales] : blocks_) {
    if (scales.levels.empty()) continue;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, source_blocks_.block(name));
    NMB_ASSIGN(const auto above, dimensions_above(*block));
    for (std::size_t d = 0; d < above.size(); ++d)
      if (!above[d]) scales.numbers = static_cast<std::int64_t>(d) + 1;
  }
  return {};
}

Result<std::vector<std::optional<DimensionIds::Dimension>>> DimensionIds::dimensions_above(
    const LoadedBlock& block) const {
  std::vector<std::optional<Dimension>> out(block.metadata.dimension_count());
  const auto known = blocks_.find(block.name);
  if (known == blocks_.end()) return out;
  const std::vector<std::uint32_t>& levels = known->second.levels;
  for (DimId d = 0; d < levels.size(); ++d) {
    if (levels[d] == 0) continue;
    const nmb::Dimension own = block.metadata.dimension(d);
    const std::optional<std::string> path = path_above(block.name, levels[d], own.name);
    if (!path) continue;
    NMB_ASSIGN(const std::optional<Dimension> found, by_path(*path));
    if (found && found->is_classic && found->may_grow == may_grow(block.metadata, d) &&
        found->length == (own.is_record() ? block.records : own.length))
      out[d] = found;
  }
  return out;
}

Status DimensionIds::order_blocks() {
  std::vector<std::string> all;
  // The order matters only if netCDF-C itself gives numbers to some dimensions.
  if (some_count_) {
    NMB_ASSIGN(all, group_order(source_blocks_));
    std::erase_if(all, [&](const std::string& name) { return !blocks_.contains(name); });
    order_ = std::move(all);
    return {};
  }
  for (const auto& [name, scales] : blocks_) order_.push_back(name);
  return {};
}

template <class Visit>
void DimensionIds::for_each_in_order(Visit visit) {
  for (const std::string& name : order_) visit(blocks_.find(name)->second);
}

// Tries to keep the numbers that scales have in their sources. Dimensions of classic blocks get
// numbers that are greater than all numbers stored with scales.
Status DimensionIds::keep_numbers(bool* are_unique) {
  std::int64_t classic = 0;
  for_each_in_order([&](const Scales& block) {
    for (const Scale& scale : block.scales)
      if (scale.own) classic = std::max(classic, *scale.own + 1);
  });
  std::set<std::int64_t> taken;  // numbers of scales in blocks of kind 6
  std::int64_t next = 0;
  *are_unique = true;
  const std::int64_t first_classic = classic;
  for_each_in_order([&](Scales& block) {
    if (block.classic_count > 0) {
      block.first = classic;
      classic += block.numbers;
      if (block.numbers > 0) next = std::max(next, classic);
    }
    for (Scale& scale : block.scales) {
      scale.id = scale.own ? *scale.own : next;
      next = std::max(next, scale.id + 1);
      *are_unique = *are_unique && taken.insert(scale.id).second;
    }
  });
  // A number that netCDF-C chooses may equal the number of a dimension of a classic block.
  const auto at = taken.lower_bound(first_classic);
  *are_unique = *are_unique && (at == taken.end() || *at >= classic);
  *are_unique = *are_unique && classic <= kMostDimensions && next <= kMostDimensions;
  // A number that netCDF-C chooses may differ from the number in the source. Variables still refer
  // to the number in the source.
  if (some_count_)
    for (const std::string& name : order_) numbers_of_source(name);
  for (const auto& [root, numbers] : sources_)
    for (const auto& [number, places] : numbers)
      for (const auto& [name, place] : places)
        changes_ = changes_ || blocks_.find(name)->second.scales[place].id != number;
  return {};
}

// Numbers all dimensions from 0, one source after another. Within a source, the dimensions keep the
// order of the numbers that they had in the source.
Status DimensionIds::count_anew() {
  std::vector<std::string> roots;
  std::map<std::string, std::vector<Scales*>> sources;
  for (const std::string& name : order_) {
    const std::string root = source_of(name);
    std::vector<Scales*>& blocks = sources[root];
    if (blocks.empty()) roots.push_back(root);
    blocks.push_back(&blocks_.find(name)->second);
  }
  std::int64_t next = 0;
  for (const std::string& root : roots) next = count_source(sources[root], next);
  changes_ = true;
  if (next <= kMostDimensions) return {};
  return Status(Code::kLimit, "found more than 2^31 - 1 dimensions");
}

// Numbers the dimensions of one source, beginning with `first`. Returns the next free number. When
// netCDF-C reads the result, it chooses the numbers of scales that store no number. If its choice
// would differ from the numbers given here, all dimensions of the source are numbered in the order
// in which netCDF-C reads them.
std::int64_t DimensionIds::count_source(const std::vector<Scales*>& blocks, std::int64_t first) {
  struct NumberedScale {
    std::int64_t in_source;
    std::int64_t* id;
    std::int64_t count;
    bool is_counted;  // whether netCDF-C chooses the number
  };
  std::vector<NumberedScale> items;
  std::int64_t next = 0;
  for (Scales* block : blocks) {
    if (block->classic_count > 0) items.push_back({next, &block->first, block->numbers, false});
    for (Scale& scale : block->scales) {
      items.push_back({scale.in_source(next), &scale.id, 1, !scale.own});
      next = std::max(next, items.back().in_source + 1);
    }
  }
  const auto number = [first](const std::vector<NumberedScale>& ordered) {
    std::int64_t at = first;
    for (const NumberedScale& item : ordered) {
      *item.id = at;
      at += item.count;
    }
    return at;
  };
  std::vector<NumberedScale> ordered = items;
  std::ranges::stable_sort(ordered, {}, &NumberedScale::in_source);
  const std::int64_t behind = number(ordered);
  next = first;
  for (const NumberedScale& item : items) {
    if (item.is_counted && *item.id != next) return number(items);
    if (item.count > 0) next = std::max(next, *item.id + item.count);
  }
  return behind;
}

std::int64_t DimensionIds::first_of(std::string_view block) const {
  const auto known = blocks_.find(block);
  return known == blocks_.end() ? 0 : known->second.first;
}

// Returns the name of the uppermost block of kind 6 above `block`, or `block` itself if there is
// none. That block was the root group of the file from which `block` came.
std::string DimensionIds::source_of(const std::string& block) const {
  std::string root = block;
  for (std::string above = block; !above.empty();) {
    above.resize(parent_of(above).size());
    const Result<std::optional<BlockEntry>> entry = source_blocks_.find(above);
    if (entry.ok() && *entry && (*entry)->kind == static_cast<std::uint16_t>(Kind::kExtended) &&
        !is_classic(above))
      root = above;
  }
  return root;
}

// Returns the dimension numbers that netCDF-C uses in the source file of the block.
const DimensionIds::Numbers& DimensionIds::numbers_of_source(const std::string& block) const {
  const std::string root = source_of(block);
  const auto [known, is_new] = sources_.try_emplace(root);
  if (!is_new) return known->second;
  std::int64_t next = 0;
  for (const std::string& name : order_) {
    if (!is_at_or_below(name, root)) continue;
    const std::vector<Scale>& scales = blocks_.find(name)->second.scales;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const std::int64_t id = scales[i].in_source(next);
      next = std::max(next, id + 1);
      known->second[id].emplace_back(name, i);
    }
  }
  return known->second;
}

std::optional<DimensionIds::Dimension> DimensionIds::in_source(const std::string& block,
                                                               std::int64_t id) const {
  const Numbers& numbers = numbers_of_source(block);
  const auto known = numbers.find(id);
  if (known == numbers.end()) return std::nullopt;
  // Variables use dimensions of their own group and of the groups above it. If several of these
  // groups have a dimension with this number, the nearest one counts.
  const std::pair<std::string, std::size_t>* nearest = nullptr;
  for (const auto& place : known->second)
    if (is_at_or_below(block, place.first) &&
        (!nearest || place.first.size() > nearest->first.size()))
      nearest = &place;
  if (!nearest) return std::nullopt;
  const Scale& scale = blocks_.find(nearest->first)->second.scales[nearest->second];
  return Dimension{joined_path(nearest->first, scale.name), scale.length, scale.id};
}

Result<std::optional<DimensionIds::Dimension>> DimensionIds::by_path(std::string_view path) const {
  const auto kNone = std::optional<Dimension>();
  if (path.starts_with('/')) path.remove_prefix(1);
  const auto [block, name] = split_path(path);
  const auto known = blocks_.find(block);
  if (known == blocks_.end()) return kNone;
  if (const auto place = known->second.places.find(std::string(name));
      place != known->second.places.end()) {
    const Scale& scale = known->second.scales[place->second];
    return std::optional(Dimension{std::string(path), scale.length, scale.id});
  }
  if (known->second.classic_count == 0) return kNone;
  if (!classic_ || classic_->name != block) {
    NMB_ASSIGN(classic_, source_blocks_.block(block));
  }
  const std::optional<DimId> id = classic_->metadata.find_dimension(name);
  if (!id || (*id < known->second.levels.size() && known->second.levels[*id] > 0)) return kNone;
  const nmb::Dimension dimension = classic_->metadata.dimension(*id);
  return std::optional(
      Dimension{std::string(path), dimension.is_record() ? classic_->records : dimension.length,
                known->second.first + *id, true, may_grow(classic_->metadata, *id)});
}

// Finds a dimension by its name in the classic blocks above `block`. Some numbers belong to no
// scale of the source, because a block of the source became a classic block. The dimensions of such
// a block kept their names.
Result<std::optional<DimensionIds::Dimension>> DimensionIds::by_name(const LoadedBlock& block,
                                                                     DimId dimension) const {
  const nmb::Dimension used = block.metadata.dimension(dimension);
  for (std::string_view above = block.name; !above.empty();) {
    above = parent_of(above);
    const auto known = blocks_.find(above);
    if (known == blocks_.end() || known->second.classic_count == 0) continue;
    NMB_ASSIGN(std::optional<Dimension> found, by_path(joined_path(above, used.name)));
    if (found && (found->may_grow || found->length == used.length)) return found;
  }
  return std::optional<Dimension>();
}

bool DimensionIds::is_below_classic(std::string_view block) const {
  while (!block.empty()) {
    block = parent_of(block);
    const auto known = blocks_.find(block);
    if (known != blocks_.end() && known->second.classic_count > 0) return true;
  }
  return false;
}

Result<std::vector<std::optional<DimensionIds::Dimension>>> DimensionIds::dimensions_of(
    const LoadedBlock& block, VarId variable) const {
  const Metadata& metadata = block.metadata;
  const Variable v = metadata.variable(variable);
  const std::size_t rank = v.dimensions.size();
  std::vector<std::optional<Dimension>> dimensions(rank);
  const std::vector<std::int64_t> ids = integers(metadata, variable, kCoordinates, rank);
  const std::vector<std::string> paths = scale_paths(metadata, variable, rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (!paths[i].empty()) {
      NMB_ASSIGN(dimensions[i], by_path(paths[i]));
    }
    if (!dimensions[i] && i == 0 && is_dimension_scale(metadata, variable)) {
      NMB_ASSIGN(dimensions[i], by_path(joined_path(block.name, v.name)));
    }
    if (!dimensions[i] && !ids.empty()) dimensions[i] = in_source(block.name, ids[i]);
    if (!dimensions[i] && !ids.empty()) {
      NMB_ASSIGN(dimensions[i], by_name(block, v.dimensions[i]));
    }
  }
  return dimensions;
}

// Returns the number that a dimension of a variable gets in the output. `id` is its number in the
// source.
Result<std::int64_t> DimensionIds::written_id(const LoadedBlock& block, VarId variable,
                                              std::size_t place, std::int64_t id,
                                              const std::optional<Dimension>& dimension) const {
  // If the number stays the same, netCDF sees the same dimension as in the source. This holds even
  // if the source contradicts itself.
  if (!changes_ && in_source(block.name, id)) return id;
  const Variable v = block.metadata.variable(variable);
  const nmb::Dimension used = block.metadata.dimension(v.dimensions[place]);
  const auto conflict = [&](const std::string& what) {
    return Status(Code::kConflict, "variable " + in_quotes(joined_path(block.name, v.name)) + ": " +
                                       what + "; a group above has no such dimension");
  };
  if (!dimension) {
    if (is_below_classic(block.name))
      return conflict(
          joined_text("uses dimension ", in_quotes(used.name), " (", kCoordinates, " ", id, ")"));
    return id;  // the dimension is unknown
  }
  if (dimension->is_classic && !dimension->may_grow && !used.is_record() &&
      dimension->length != used.length)
    return conflict(joined_text("uses dimension ", in_quotes(dimension->path), " with length ",
                                used.length, ", found length ", dimension->length));
  return dimension->id;
}

Result<std::shared_ptr<const LoadedBlock>> DimensionIds::renumbered(
    std::shared_ptr<const LoadedBlock> block) const {
  if (!block->metadata.extension() || is_classic(block->name) ||
      (!changes_ && !is_below_classic(block->name)))
    return block;
  std::shared_ptr<LoadedBlock> changed;
  const auto put = [&](VarId variable, std::string_view name,
                       const std::vector<std::int64_t>& numbers) -> Status {
    const Attribute attribute = *block->metadata.find_attribute(variable, name);
    const std::vector<std::byte> bytes = as_stored(block->metadata, attribute, numbers);
    if (std::ranges::equal(bytes, attribute.values)) return {};
    if (!changed) changed = std::make_shared<LoadedBlock>(*block);
    return changed->metadata.replace_values(variable, name, bytes);
  };
  for (VarId v = 0; v < block->metadata.variable_count(); ++v) {
    std::vector<std::int64_t> ids = integers(block->metadata, v, kCoordinates);
    std::vector<std::int64_t> id = integers(block->metadata, v, kDimensionId, 1);
    if (ids.empty() && id.empty()) continue;
    NMB_ASSIGN(const std::vector<std::optional<Dimension>> dimensions, dimensions_of(*block, v));
    if (!dimensions.empty() && !id.empty() && id[0] >= 0) {
      NMB_ASSIGN(id[0], written_id(*block, v, 0, id[0], dimensions[0]));
      NMB_TRY(put(v, kDimensionId, id));
    }
    if (ids.size() != dimensions.size()) continue;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      NMB_ASSIGN(ids[i], written_id(*block, v, i, ids[i], dimensions[i]));
    }
    if (!ids.empty()) NMB_TRY(put(v, kCoordinates, ids));
  }
  if (!changed) return block;
  return std::shared_ptr<const LoadedBlock>(std::move(changed));
}

}  // namespace nmb::hdf5
