#include "merge/reading/input_selection.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "model/extension.h"
#include "model/find_above.h"
#include "model/paths.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"

namespace nmb {

namespace {

// Returns whether a block has a named datatype that differs at most in its name from a type of
// `user`. netCDF-C finds the name of a type in this way.
bool names_type_of(const LoadedBlock& block, const LoadedBlock& user) {
  const TypeTable& types = block.metadata.extension()->types;
  const TypeTable& used = user.metadata.extension()->types;
  const auto code = [](std::size_t number) {
    return static_cast<Type>(TypeTable::kFirst + static_cast<std::uint32_t>(number));
  };
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].name.empty()) continue;
    const TypeTable named = types.only(code(i), TypeTable::Names::kDropped);
    for (std::size_t k = 0; k < used.size(); ++k)
      if (used[k].type_class == types[i].type_class &&
          named == used.only(code(k), TypeTable::Names::kDropped))
        return true;
  }
  return false;
}

}  // namespace

Result<bool> InputSelection::is_group(const hdf5::NamedBlocks& blocks, const BlockEntry& entry) {
  if (is_from_hdf5(entry)) return true;
  if (entry.dimensions + entry.variables + entry.attributes > 0) return false;
  bool has_below = false;
  NMB_TRY(blocks.for_each_entry(entry.name.empty() ? "" : entry.name + "/",
                                [&](const BlockEntry& other) -> Result<bool> {
                                  has_below = other.name != entry.name;
                                  return !has_below;
                                }));
  return has_below;
}

Result<InputSelection> InputSelection::of(hdf5::NamedBlocks blocks, std::string file, Groups groups,
                                          Wants wants) {
  InputSelection out(std::move(blocks), std::move(file), groups, std::move(wants));
  NMB_TRY(out.select());
  return out;
}

Status InputSelection::select() {
  // Entries are in the order of names, so a group comes before the blocks below it.
  if (below_ == Groups::kWithBelow)
    NMB_TRY(blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      NMB_ASSIGN(const bool wanted, is_wanted(entry.name));
      if (!wanted) return true;
      NMB_ASSIGN(const bool is_group_here, is_group(blocks_, entry));
      if (is_group_here) groups_.insert(entry.name);
      return true;
    }));
  NMB_TRY(blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const bool wanted, is_wanted(entry.name));
    if (wanted && is_from_hdf5(entry)) NMB_TRY(note_groups_above(entry));
    return true;
  }));
  // netCDF-C counts dimensions without numbers through the whole file.
  if (has_unnumbered_ && !of_several_.empty())
    return Status(Code::kUnsupported, file_, kNoOffset, "",
                  "variable " + of_several_ +
                      " refers to its dimensions by numbers, but not all dimensions of the file "
                      "have numbers; extract the block above all groups of the file");
  for (const std::string& name : above_) {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks_.block(name));
    const std::vector<bool> is_kept = kept(*block);
    for (VarId v = 0; v < is_kept.size(); ++v)
      if (is_kept[v]) scales_.insert(joined_path(name, block->metadata.variable(v).name));
  }
  return {};
}

// Finds the groups above a block whose dimensions or named datatypes the block uses.
Status InputSelection::note_groups_above(const BlockEntry& entry) {
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks_.block(entry));
  // A united group that is written alone has all its dimensions itself.
  if (is_classic_dataset(block->metadata)) return {};
  std::set<std::string, std::less<>> used;  // groups whose dimensions are used
  const auto use_dimensions = [&](const LoadedBlock& user, const std::vector<bool>* is_user) {
    const NetcdfView view = netcdf_view(user);
    for (const NetcdfView::Variable& variable : view.variables)
      for (const std::uint32_t d : variable.dimensions)
        if (!view.dimensions[d].path.empty() && (!is_user || (*is_user)[variable.id]))
          used.emplace(split_path(without_slash(view.dimensions[d].path)).parent);
  };
  use_dimensions(*block, nullptr);
  bool is_part = false;
  for (std::string_view at = entry.name; !at.empty();) {
    at = split_path(at).parent;
    NMB_ASSIGN(const bool wanted, is_wanted(at));
    if (wanted) continue;
    NMB_ASSIGN(const std::optional<BlockEntry> found, blocks_.find(at));
    if (!found || !is_from_hdf5(*found)) continue;
    is_part = true;
    if (above_.contains(at)) continue;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> above, blocks_.block(*found));
    if (!used.contains(at) && !names_type_of(*above, *block)) continue;
    above_.emplace(at);
    note_numbers(*above);
    // A coordinate may have more dimensions, which may belong to groups further above.
    const std::vector<bool> is_kept = kept(*above);
    use_dimensions(*above, &is_kept);
  }
  if (is_part) note_numbers(*block);
  return {};
}

void InputSelection::note_numbers(const LoadedBlock& block) {
  const Metadata& metadata = block.metadata;
  const std::vector<bool> is_scale = netcdf_view(block).is_scale;
  for (VarId v = 0; v < is_scale.size(); ++v) {
    if (!is_scale[v]) continue;
    if (!metadata.find_attribute(v, "_Netcdf4Dimid")) has_unnumbered_ = true;
    if (metadata.variable(v).dimensions.size() > 1 &&
        metadata.find_attribute(v, "_Netcdf4Coordinates"))
      of_several_ = joined_path(block.name, metadata.variable(v).name);
  }
}

Result<bool> InputSelection::is_wanted(std::string_view block) const {
  if (has_at_or_above(groups_, block)) return true;
  return wants_(block);
}

Result<InputSelection::Use> InputSelection::use_of(std::string_view block) const {
  NMB_ASSIGN(const bool wanted, is_wanted(block));
  return wanted ? Use::kWhole : above_.contains(block) ? Use::kDimensions : Use::kNone;
}

std::vector<bool> InputSelection::kept(const Dataset& block) {
  const Metadata& metadata = block.metadata;
  if (!is_classic_dataset(metadata)) return netcdf_view(block).is_scale;
  std::vector<bool> out;
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const Variable variable = metadata.variable(v);
    out.push_back(!variable.dimensions.empty() &&
                  metadata.dimension(variable.dimensions.front()).name == variable.name);
  }
  return out;
}

// Returns whether a block or a variable is packed.
Result<bool> InputSelection::is_packed(std::string_view path) const {
  if (scales_.contains(path) || above_.contains(path)) return true;
  NMB_ASSIGN(const std::optional<BlockEntry> block, blocks_.find(path));
  return is_wanted(block ? path : split_path(path).parent);
}

PathMap InputSelection::map() const {
  return [this](std::string_view path) -> std::optional<std::string> {
    const Result<bool> packed = is_packed(without_slash(path));
    return packed.ok() && *packed ? std::optional<std::string>(path) : std::nullopt;
  };
}

}  // namespace nmb
