#include "merge/reading/classic_form.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "model/name_rules.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

// Keeps a block and its view alive while the view's extent is read.
struct OpenView {
  std::shared_ptr<const Dataset> block, view;
};

// Returns the path of each dimension of a block, by the dimension's name. Leaves out dimensions
// that the view renames.
std::map<std::string, std::string, std::less<>> paths_of(const Dataset& block) {
  std::map<std::string, std::string, std::less<>> paths;
  for (NetcdfView::Dimension& dimension : netcdf_view(block).dimensions)
    if (dimension.path.ends_with("/" + dimension.name))
      paths.emplace(std::move(dimension.name), std::move(dimension.path));
  return paths;
}

// path: path of the record dimension; empty if unknown.
bool is_record_unused(const InputBlock& block, const Dataset& dataset, const std::string& path) {
  const Metadata& metadata = dataset.metadata;
  if (!metadata.record_dimension() || dataset.records > 0) return false;
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (metadata.is_record_variable(v)) return false;
  return !block.lengths || path.empty() || !block.lengths->contains(path);
}

// Returns a block whose named datatypes have the paths after a move.
Result<std::shared_ptr<const Dataset>> with_moved_types(std::shared_ptr<const Dataset> block,
                                                        const PathMove& move) {
  const auto& before = block->metadata.extension();
  if (!before || move.is_none()) return block;
  const auto extension = std::make_shared<Extension>(*before);
  extension->types = {};
  bool is_any_moved = false;
  for (std::size_t i = 0; i < before->types.size(); ++i) {
    ExtendedType type = before->types[i];
    type.name = move.moved(type.name);
    is_any_moved |= type.name != before->types[i].name;
    NMB_TRY(extension->types.add(std::move(type)).status());
  }
  if (!is_any_moved) return block;
  Dataset moved = *block;
  moved.metadata.set_extension(extension);
  return dataset_keeping(std::move(block), std::move(moved));
}

}  // namespace

Result<Source> open_view(std::shared_ptr<const Dataset> block, const ViewOrigin& how) {
  auto both = std::make_shared<OpenView>();
  both->block = std::move(block);
  NMB_ASSIGN(ClassicView view, classic_view(both->block, Kind::kCdf5, how.lengths.get(), {},
                                            how.record, how.own_types));
  both->view = std::move(view.dataset);
  const ByteSource* const extent = both->view->extent.get();
  return Source(std::move(both), extent);
}

Result<ClassicForm> classic_form(const InputBlock& block, std::shared_ptr<SourcePool> pool,
                                 const std::string& record, OwnTypes own_types,
                                 const PathMove& move) {
  if (has_classic_values(block.dataset.metadata)) {
    std::vector<std::uint32_t> levels = levels_above(block.dataset.metadata);
    levels.resize(block.dataset.metadata.dimension_count());
    return ClassicForm{block.dataset,
                       block.values,
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       std::move(levels),
                       is_record_unused(block, block.dataset, "")};
  }
  NMB_ASSIGN(std::shared_ptr<const Dataset> opened, block.open());
  const auto paths = paths_of(*opened);
  const std::string name = opened->name;
  NMB_ASSIGN(opened, with_moved_types(std::move(opened), move));
  NMB_ASSIGN(ClassicView view, classic_view(std::move(opened), Kind::kCdf5, block.lengths.get(), {},
                                            record, own_types));
  ViewOrigin origin{block.dataset.name, block.packed.body, block.values, block.lengths, record,
                    own_types};
  // The view has the dimensions of the file, and does not need the values of the origin.
  ViewOrigin how{{}, {}, {}, block.lengths, record, own_types};
  const auto open = [open = block.open, how = std::move(how)]() -> Result<Source> {
    NMB_ASSIGN(std::shared_ptr<const Dataset> again, open());
    return open_view(std::move(again), how);
  };
  const ByteSource& extent = *view.dataset->extent;
  // The view takes much memory while it is open.
  Source values = source_of(
      late_values({extent.name(), extent.size(), false, std::move(origin)}, open, std::move(pool)));
  const Dataset& dataset = *view.dataset;
  // This list is empty, unless the block is a classic dataset whose values are stored in chunks.
  const std::vector<std::uint32_t> above = levels_above(block.dataset.metadata);
  std::vector<std::uint32_t> levels;
  std::string path_of_record;
  for (DimId d = 0; d < dataset.metadata.dimension_count(); ++d) {
    const std::string_view dimension = dataset.metadata.dimension(d).name;
    const auto path = paths.find(dimension);
    levels.push_back(path == paths.end() ? 0 : levels_between(name, path->second));
    if (const auto own = block.dataset.metadata.find_dimension(dimension); own && !above.empty())
      levels.back() = above[*own];
    if (path != paths.end() && dataset.metadata.record_dimension() == d)
      path_of_record = path->second;
  }
  const bool is_unused = is_record_unused(block, dataset, path_of_record);
  return ClassicForm{dataset,
                     std::move(values),
                     std::move(view.losses),
                     std::move(view.fixed_dimensions),
                     std::move(view.made_up),
                     std::move(view.empty_dimensions),
                     std::move(view.left_out),
                     std::move(view.lost_fill_values),
                     std::move(view.own),
                     std::move(view.own_attributes),
                     std::move(view.attribute_forms),
                     std::move(view.named_types),
                     std::move(view.dataset),
                     std::move(levels),
                     is_unused};
}

std::vector<Loss> losses_of(const InputBlock& block, const ClassicForm& form,
                            const std::string& why) {
  constexpr std::string_view kFound = "found ";
  const std::string group = block.group.empty() ? "" : "group /" + block.group + ": ";
  std::vector<Loss> losses;
  std::vector<Loss> all = form.losses;
  for (const ClassicView::OwnValues& own : form.own)
    all.push_back({"variable " + in_quotes(own.variable),
                   "found strings of " + std::to_string(own.type().size) +
                       " bytes, expected single characters or numbers"});
  for (const Loss& loss : all) {
    std::string found = loss.text.substr(loss.text.starts_with(kFound) ? kFound.size() : 0);
    found.resize(std::min(found.size(), found.rfind("; ")));
    losses.push_back({group + loss.object, found + " (" + why + ")"});
  }
  return losses;
}

void report_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts,
                   const std::string& why) {
  for (Loss& loss : losses_of(block, form, why))
    conflicts.add(ConflictKind::kLoss, std::move(loss.object), std::move(loss.text), "");
}

}  // namespace nmb
