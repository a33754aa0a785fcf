#include "merge/reading/input_changes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"

namespace nmb {

using Groups = InputSelection::Groups;

Status InputChanges::select(const hdf5::NamedBlocks& blocks, InputSelection::Wants wants) {
  NMB_ASSIGN(selection_, InputSelection::of(blocks, file_, Groups::kWithBelow, std::move(wants)));
  return {};
}

Status InputChanges::select(const hdf5::NamedBlocks& blocks, const std::vector<bool>& chosen) {
  if (std::ranges::find(chosen, false) == chosen.end()) return {};
  std::vector<std::string> names;
  bool is_any_from_hdf5 = false;
  auto wanted = chosen.begin();
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (!*wanted++) return true;
    names.push_back(entry.name);
    is_any_from_hdf5 = is_any_from_hdf5 || is_from_hdf5(entry);
    return true;
  }));
  if (!is_any_from_hdf5) return {};
  NMB_ASSIGN(selection_,
             InputSelection::of(blocks, file_, Groups::kAlone,
                                [names = std::move(names)](std::string_view name) -> Result<bool> {
                                  return std::ranges::binary_search(names, name);
                                }));
  return {};
}

Result<bool> InputChanges::is_selected(std::string_view block) const {
  NMB_ASSIGN(const InputSelection::Use use, selection_->use_of(block));
  return use != InputSelection::Use::kNone;
}

Result<MovedContent> InputChanges::change(const Dataset& block, const PathMove& move) {
  if (is_surveyed_) return mapped(block);
  if (exists_in_) return without_dangling(block);
  // A block that is packed with all blocks below it keeps its paths.
  if (selection_ && (selection_->groups() == Groups::kAlone || !selection_->is_whole(block.name)))
    return selected(block, move);
  NMB_ASSIGN(const auto spool, context_.moved_values());
  Result<MovedContent> moved = move_paths(block, move, spool);
  if (moved.ok()) return moved;
  return not_moved(moved.status(), block.name,
                   "; use MergeOptions::block_name '{group}' to keep names");
}

// Returns a block of `selection_` without its references to objects that are not packed, and
// without the variables that are not packed.
Result<MovedContent> InputChanges::selected(const Dataset& block, const PathMove& move) {
  const bool is_whole = selection_->is_whole(block.name);
  NMB_ASSIGN(const bool refers, refers_to_objects(block.metadata));
  if (is_whole && !refers) return MovedContent();
  NMB_ASSIGN(const auto spool, context_.moved_values());
  const PathMap kept = selection_->map();
  bool is_lost = false;
  const PathMap map = [&](std::string_view path) {
    std::optional<std::string> to = kept(path);
    is_lost = is_lost || !to;
    if (to) to = move.moved(*to);
    return to;
  };
  Result<MovedContent> out = is_whole
                                 ? map_paths(block, map, spool)
                                 : keep_variables(block, InputSelection::kept(block), map, spool);
  if (out.ok() && is_whole && !is_lost) out = move_paths(block, move, spool);
  if (!out.ok()) return not_moved(out.status(), block.name, "");
  if (is_whole) warn_of_lost(*out, block.name, "the referenced objects are not chosen");
  return out;
}

// Returns a block with the paths that InputOptions::map gives.
Result<MovedContent> InputChanges::mapped(const Dataset& block) {
  const auto& map_of = context_.options.map;
  const PathMap map = map_of ? map_of(block.name) : PathMap();
  if (!map) return MovedContent();
  NMB_ASSIGN(const auto spool, context_.moved_values());
  Result<MovedContent> moved = map_paths(block, map, spool);
  if (!moved.ok()) return not_moved(moved.status(), block.name, "");
  warn_of_lost(*moved, block.name, "the referenced objects are divided or united");
  return moved;
}

namespace {

// Returns whether an object is written when the file is converted to HDF5: a group that has a
// block, a variable, a named datatype, or an object to which a hard link leads. If only the groups
// below a group show that it existed, its own content is lost. depth: number of hard links that
// were followed.
Result<bool> has_object(const FileReader& file, std::string_view path, int depth = 0) {
  constexpr int kMostLinks = 16;  // links may form a circle
  path = without_slash(path);
  if (path.empty()) return true;
  NMB_ASSIGN(const std::optional<BlockEntry> group, file.find(path));
  if (group) return true;
  const SplitPath split = split_path(path);
  NMB_ASSIGN(const std::optional<BlockEntry> above, file.find(split.parent));
  if (!above) return false;
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, file.block(*above));
  if (block->metadata.find_variable(split.name)) return true;
  const auto& extension = block->metadata.extension();
  if (!extension) return false;
  for (std::size_t i = 0; i < extension->types.size(); ++i)
    if (without_slash(extension->types[i].name) == path) return true;
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(extension->hdf5, std::array{hdf5::Property::Number::kLinks}));
  for (const hdf5::Property& property : properties)
    for (const hdf5::Link& link : property.links)
      if (link.kind == hdf5::LinkKind::kHard && link.name == split.name)
        return depth < kMostLinks ? has_object(file, link.content, depth + 1) : Result(false);
  return false;
}

}  // namespace

// Returns a block without its hard links and references to objects that do not exist.
Result<MovedContent> InputChanges::without_dangling(const Dataset& block) {
  NMB_TRY(note_lost_dimensions(block));
  NMB_ASSIGN(const bool refers, refers_to_objects(block.metadata));
  if (!refers) return MovedContent();
  NMB_ASSIGN(const auto spool, context_.moved_values());
  Status failed;
  bool is_lost = false;
  const auto exists = [&](std::string_view path) {
    const Result<bool> found = has_object(*exists_in_, path);
    if (!found.ok()) failed = found.status();
    is_lost = is_lost || (found.ok() && !*found);
    return !found.ok() || *found;
  };
  Result<MovedContent> out = drop_lost_targets(block, exists, spool);
  NMB_TRY(failed);
  if (out.status().code() == Code::kUnsupported) {
    note_dangling(block.name, "references", "may lead to lost objects: " + out.status().message());
    return MovedContent();
  }
  if (!out.ok()) return not_moved(out.status(), block.name, "");
  if (!is_lost) return MovedContent();
  for (const std::string& lost : out->lost)
    note_dangling(block.name, lost, "left out, because it leads to an object that is lost");
  return out;
}

// Records dimensions of groups above the block whose blocks do not exist. They become the block's
// own (spec/hdf5_section.md, property 12).
Status InputChanges::note_lost_dimensions(const Dataset& block) {
  const std::vector<std::uint32_t> levels = levels_above(block.metadata);
  for (DimId d = 0; d < levels.size(); ++d) {
    if (levels[d] == 0) continue;
    const std::string_view name = block.metadata.dimension(d).name;
    const std::optional<std::string> path = path_above(block.name, levels[d], name);
    if (!path) continue;
    const std::string group(split_path(*path).parent);
    NMB_ASSIGN(const std::optional<BlockEntry> above, exists_in_->find(group));
    if (!above)
      note_dangling(block.name, "dimension " + in_quotes(name),
                    "no longer shared, because block " + in_quotes(group) + " is lost");
  }
  return {};
}

void InputChanges::note_dangling(const std::string& block, const std::string& object,
                                 std::string text) {
  dangling_.push_back({0,
                       {},
                       "block " + in_quotes(block) + ": " + object,
                       std::move(text),
                       PackLoss::Kind::kReference});
}

// Returns the error for a block whose paths cannot be changed. remedy: text that is added if the
// block could be copied unchanged.
Status InputChanges::not_moved(const Status& status, const std::string& block,
                               const char* remedy) const {
  const bool could_stay = status.code() == Code::kUnsupported;
  return Status(could_stay ? Code::kConflict : status.code(),
                status.file().empty() ? file_ : status.file(), status.offset(), status.rule(),
                "block " + in_quotes(block) + ": " + status.message() + (could_stay ? remedy : ""));
}

// Reports links and references that a block has lost.
void InputChanges::warn_of_lost(const MovedContent& moved, const std::string& block,
                                const std::string& reason) {
  constexpr std::size_t kMostShown = 10;
  std::string lost;
  for (std::size_t i = 0; i < std::min(kMostShown, moved.lost.size()); ++i)
    lost += (i > 0 ? ", " : "") + moved.lost[i];
  if (moved.lost.size() > kMostShown)
    lost += " and " + std::to_string(moved.lost.size() - kMostShown) + " more";
  if (!lost.empty())
    context_.warnings.push_back(file_ + ": block " + in_quotes(block) + ": left out because " +
                                reason + ": " + lost);
}

}  // namespace nmb
