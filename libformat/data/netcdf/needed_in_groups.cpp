#include "netcdf/needed_in_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/naming_attributes.h"
#include "model/paths.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/selected_variables.h"
#include "netcdf/shared_dimensions.h"

namespace nmb {

namespace {

std::string text_of(const Metadata& metadata, VarId owner, std::string_view name) {
  static const TypeTable kNone;
  const std::optional<Attribute> found = metadata.find_attribute(owner, name);
  const auto& extension = metadata.extension();
  return found ? string_attribute(extension ? extension->types : kNone, *found) : std::string();
}

// Returns the path of a dimension without the first '/' and without `root`, the groups before the
// paths of all groups; empty if it is not below `root`.
std::string path_below(std::string_view root, std::string_view path) {
  path = without_slash(path);
  if (root.empty()) return std::string(path);
  if (!path.starts_with(root) || path.size() <= root.size() || path[root.size()] != '/') return {};
  return std::string(path.substr(root.size() + 1));
}

}  // namespace

void NeededInGroups::add(const std::string& group, const Dataset& dataset) {
  const Metadata& metadata = dataset.metadata;
  std::string_view root = dataset.name;
  root.remove_suffix(root.ends_with(group) ? group.size() : 0);
  if (root.ends_with('/')) root.remove_suffix(1);
  const std::vector<std::uint32_t> levels = levels_above(metadata);
  const NetcdfView view = netcdf_view(dataset);
  Group& variables = groups_[group];
  for (const NetcdfView::Variable& variable : view.variables) {
    Needs& needs = variables[variable.name];
    for (const NamingAttribute& one : kNamingAttributes)
      for_each_word(one.name, text_of(metadata, variable.id, one.name),
                    [&](std::string_view word) { needs.names.emplace_back(word); });
    for (const std::uint32_t d : variable.dimensions) {
      const NetcdfView::Dimension& dimension = view.dimensions[d];
      std::string path = path_below(root, dimension.path);
      const std::optional<DimId> own = metadata.find_dimension(dimension.name);
      if (path.empty())
        path = path_above(group, own && *own < levels.size() ? levels[*own] : 0, dimension.name)
                   .value_or(joined_path(group, dimension.name));
      needs.coordinates.push_back(std::move(path));
    }
  }
}

const NeededInGroups::Needs* NeededInGroups::find(std::string_view path) const {
  const SplitPath split = split_path(path);
  const auto group = groups_.find(split.parent);
  if (group == groups_.end()) return nullptr;
  const auto variable = group->second.find(split.name);
  return variable == group->second.end() ? nullptr : &variable->second;
}

// Returns the path of the variable that an attribute in a group names; empty if there is none.
std::string NeededInGroups::resolve(std::string_view group, std::string_view name) const {
  for (constexpr std::string_view kUp = "../"; name.starts_with(kUp); name.remove_prefix(3))
    group = split_path(group).parent;
  std::vector<std::string_view> above{group};
  while (!above.back().empty()) above.push_back(split_path(above.back()).parent);
  // An absolute path begins at the root of the file, which may be a block of an archive.
  if (name.starts_with('/')) {
    name.remove_prefix(1);
    std::ranges::reverse(above);
  }
  for (const std::string_view at : above)
    if (std::string path = joined_path(at, name); find(path)) return path;
  return {};
}

Result<NeededPaths> NeededInGroups::needed_by(
    const std::vector<SubsetRules::Variables>& wanted) const {
  NeededPaths needed;
  std::vector<std::string> open;
  const auto need = [&](std::string path) {
    if (!path.empty() && find(path) && needed.insert(path).second) open.push_back(std::move(path));
  };
  for (const auto& group : groups_)
    for (const auto& variable : group.second) {
      std::string path = joined_path(group.first, variable.first);
      bool is_wanted = false;
      for (const SubsetRules::Variables& one : wanted) {
        NMB_ASSIGN(const bool has_name, one.matches(variable.first));
        NMB_ASSIGN(const bool has_path, one.matches(path));
        is_wanted = is_wanted || has_name || has_path;
      }
      if (is_wanted) need(std::move(path));
    }
  while (!open.empty()) {
    const std::string path = std::move(open.back());
    open.pop_back();
    const Needs& needs = *find(path);
    for (const std::string& name : needs.names) need(resolve(split_path(path).parent, name));
    for (const std::string& coordinate : needs.coordinates) need(coordinate);
  }
  return needed;
}

}  // namespace nmb
