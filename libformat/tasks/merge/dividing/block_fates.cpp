#include "merge/dividing/block_fates.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hdf5_types/netcdf_marks.h"
#include "model/find_above.h"
#include "model/paths.h"

namespace nmb {

namespace {

bool is_at_or_below(std::string_view path, std::string_view above) {
  return above.empty() || path == above || (path.starts_with(above) && path[above.size()] == '/');
}

std::string path_in(std::string_view block, std::string_view name) {
  return "/" + joined_path(block, name);
}

}  // namespace

void BlockFates::add(const std::string& path, const Dataset& block, std::string name,
                     bool is_divided) {
  Fate fate{std::move(name), false, is_divided};
  const Metadata& metadata = block.metadata;
  fate.is_extended = metadata.extension() != nullptr;
  std::set<Use> uses;
  for (VarId v = 0; fate.is_extended && v < metadata.variable_count(); ++v) {
    const Variable variable = metadata.variable(v);
    const std::size_t rank = variable.dimensions.size();
    const bool is_scale = rank > 0 && is_dimension_scale(metadata, v);
    if (is_scale)
      if (const auto id = integers(metadata, v, kDimensionId, 1); !id.empty())
        fate.scales.emplace(id.front(), variable.name);
    const std::vector<std::int64_t> ids = integers(metadata, v, kCoordinates, rank);
    const std::vector<std::string> paths = scale_paths(metadata, v, rank);
    for (std::size_t i = 0; i < rank; ++i) {
      if (!paths[i].empty())
        uses.insert({paths[i], -1});
      else if (!ids.empty() && !(is_scale && i == 0))
        uses.insert({"", ids[i]});
    }
  }
  fate.uses.assign(uses.begin(), uses.end());
  fates_.insert_or_assign(path, std::move(fate));
}

void BlockFates::settle() {
  changes_ = std::ranges::any_of(fates_, [](const auto& one) {
    return one.second.is_divided || one.first != one.second.name;
  });
  // If a block becomes classic, blocks that use its dimension scales may have to become classic
  // too. So the search is repeated until no other block becomes classic.
  for (bool goes_on = changes_; goes_on;) {
    goes_on = false;
    for (auto& [path, fate] : fates_) {
      if (!fate.is_kept()) continue;
      fate.torn_by = new_torn_by(path, fate);
      goes_on = goes_on || fate.torn_by;
    }
  }
}

// Returns the block that has the dimension scale. If the scale is given by a number, `path` is
// searched first and then the blocks above it.
std::optional<std::string> BlockFates::owner_of(const std::string& path, const Use& use) const {
  if (!use.path.empty()) {
    std::string_view scale = use.path;
    while (scale.starts_with('/')) scale.remove_prefix(1);
    return std::string(split_path(scale).parent);
  }
  const auto owner = find_at_or_above(
      fates_, path, [&](const auto& fate) { return fate.second.scales.contains(use.id); });
  return owner == fates_.end() ? std::nullopt : std::optional(owner->first);
}

std::optional<std::string> BlockFates::new_torn_by(const std::string& path,
                                                   const Fate& fate) const {
  for (const Use& use : fate.uses) {
    const std::optional<std::string> owner = owner_of(path, use);
    if (!owner || *owner == path) continue;
    const auto known = fates_.find(*owner);
    // A link without a target in the input stays unchanged.
    if (known == fates_.end()) continue;
    const bool was_above = is_at_or_below(path, *owner);
    if (known->second.is_whole() && (!was_above || is_at_or_below(fate.name, known->second.name)))
      continue;
    if (!use.path.empty()) return use.path;
    return path_in(*owner, known->second.scales.at(use.id));
  }
  return std::nullopt;
}

const std::optional<std::string>& BlockFates::torn_by(const std::string& path) const {
  static const std::optional<std::string> kNone;
  const auto known = fates_.find(path);
  return known == fates_.end() ? kNone : known->second.torn_by;
}

bool BlockFates::maps_paths(std::string_view path) const {
  const auto known = fates_.find(path);
  return changes_ && known != fates_.end() && known->second.is_kept();
}

bool BlockFates::is_linked(std::string_view path) const {
  const auto above = fates_.find(split_path(path).parent);
  return !path.empty() && above != fates_.end() && above->second.is_kept();
}

std::optional<std::string> BlockFates::moved(std::string_view path) const {
  if (!path.starts_with('/')) return std::string(path);
  std::string_view rest = path.substr(1);
  // If a named datatype has no link, a number replaces its path. Within a file, equal numbers mean
  // the same type.
  if (rest.starts_with('/')) {
    const auto root = fates_.find("");
    const std::string place = root == fates_.end() ? "" : root->second.name;
    return "/" + path_in(place, rest.substr(1));
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  // The remainder of a divided block is still a group.
  if (const auto block = fates_.find(rest); block != fates_.end())
    return path_in(block->second.name, "");
  const auto [parent, name] = split_path(rest);
  const auto block = fates_.find(parent);
  if (block == fates_.end()) return std::string(path);
  if (!block->second.is_whole()) return std::nullopt;
  return path_in(block->second.name, name);
}

}  // namespace nmb
