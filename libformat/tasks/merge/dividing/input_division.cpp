#include "merge/dividing/input_division.h"

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

void InputDivision::add(const std::string& path, const Dataset& block, std::string name,
                        bool is_divided) {
  Decision decision{std::move(name), false, is_divided};
  const Metadata& metadata = block.metadata;
  decision.is_extended = metadata.extension() != nullptr;
  std::set<DimensionUse> uses;
  for (VarId v = 0; decision.is_extended && v < metadata.variable_count(); ++v) {
    const Variable variable = metadata.variable(v);
    const std::size_t rank = variable.dimensions.size();
    const bool is_scale = rank > 0 && is_dimension_scale(metadata, v);
    if (is_scale)
      if (const auto id = integers(metadata, v, kDimensionId, 1); !id.empty())
        decision.scales.emplace(id.front(), variable.name);
    const std::vector<std::int64_t> ids = integers(metadata, v, kCoordinates, rank);
    const std::vector<std::string> paths = scale_paths(metadata, v, rank);
    for (std::size_t i = 0; i < rank; ++i) {
      if (!paths[i].empty())
        uses.insert({paths[i], -1});
      else if (!ids.empty() && !(is_scale && i == 0))
        uses.insert({"", ids[i]});
    }
  }
  decision.uses.assign(uses.begin(), uses.end());
  decisions_.insert_or_assign(path, std::move(decision));
}

void InputDivision::settle() {
  changes_ = std::ranges::any_of(decisions_, [](const auto& one) {
    return one.second.is_divided || one.first != one.second.name;
  });
  // If a block becomes classic, blocks that use its dimension scales may have to become classic
  // too. So the search is repeated until no other block becomes classic.
  for (bool goes_on = changes_; goes_on;) {
    goes_on = false;
    for (auto& [path, decision] : decisions_) {
      if (!decision.is_kept()) continue;
      decision.forced_by = new_forced_by(path, decision);
      goes_on = goes_on || decision.forced_by;
    }
  }
}

// Returns the block that has the dimension scale. If the scale is given by a number, `path` is
// searched first and then the blocks above it.
std::optional<std::string> InputDivision::owner_of(const std::string& path,
                                                   const DimensionUse& use) const {
  if (!use.path.empty()) {
    std::string_view scale = use.path;
    while (scale.starts_with('/')) scale.remove_prefix(1);
    return std::string(split_path(scale).parent);
  }
  const auto owner = find_at_or_above(decisions_, path, [&](const auto& decision) {
    return decision.second.scales.contains(use.id);
  });
  return owner == decisions_.end() ? std::nullopt : std::optional(owner->first);
}

std::optional<std::string> InputDivision::new_forced_by(const std::string& path,
                                                        const Decision& decision) const {
  for (const DimensionUse& use : decision.uses) {
    const std::optional<std::string> owner = owner_of(path, use);
    if (!owner || *owner == path) continue;
    const auto known = decisions_.find(*owner);
    // A link without a target in the input stays unchanged.
    if (known == decisions_.end()) continue;
    const bool was_above = is_at_or_below(path, *owner);
    if (known->second.is_whole() &&
        (!was_above || is_at_or_below(decision.name, known->second.name)))
      continue;
    if (!use.path.empty()) return use.path;
    return path_in(*owner, known->second.scales.at(use.id));
  }
  return std::nullopt;
}

const std::optional<std::string>& InputDivision::forced_by(const std::string& path) const {
  static const std::optional<std::string> kNone;
  const auto known = decisions_.find(path);
  return known == decisions_.end() ? kNone : known->second.forced_by;
}

bool InputDivision::maps_paths(std::string_view path) const {
  const auto known = decisions_.find(path);
  return changes_ && known != decisions_.end() && known->second.is_kept();
}

bool InputDivision::is_linked(std::string_view path) const {
  const auto above = decisions_.find(split_path(path).parent);
  return !path.empty() && above != decisions_.end() && above->second.is_kept();
}

std::optional<std::string> InputDivision::moved(std::string_view path) const {
  if (!path.starts_with('/')) return std::string(path);
  std::string_view rest = path.substr(1);
  // If a named datatype has no link, a number replaces its path. Within a file, equal numbers mean
  // the same type.
  if (rest.starts_with('/')) {
    const auto root = decisions_.find("");
    const std::string place = root == decisions_.end() ? "" : root->second.name;
    return "/" + path_in(place, rest.substr(1));
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  // The remainder of a divided block is still a group.
  if (const auto block = decisions_.find(rest); block != decisions_.end())
    return path_in(block->second.name, "");
  const auto [parent, name] = split_path(rest);
  const auto block = decisions_.find(parent);
  if (block == decisions_.end()) return std::string(path);
  if (!block->second.is_whole()) return std::nullopt;
  return path_in(block->second.name, name);
}

}  // namespace nmb
