#include "merge/uniting/union_input.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "hdf5_types/netcdf_marks.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/held_values.h"
#include "merge/uniting/decomposition.h"
#include "merge/uniting/own_subset.h"
#include "model/name_rules.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"

namespace nmb {

bool keeps_chunks(const PackOptions& options) { return !options.classic; }

namespace {

bool has_along(const InputBlock& block, const PackOptions& options) {
  const std::string& along = options.join().along;
  if (!options.joins() || along.empty() || along == kFirstAxis) return false;
  const std::string_view name = along_name(options);
  if (along.starts_with('/') && along != "/" + joined_path(block.group, name)) return false;
  if (is_classic_dataset(block.dataset.metadata))
    return block.dataset.metadata.find_dimension(name).has_value();
  const NetcdfView view = netcdf_view(block.dataset, block.lengths.get(), block.first_made_up);
  return std::ranges::find(view.dimensions, name, &NetcdfView::Dimension::name) !=
         view.dimensions.end();
}

bool has_unlimited(const InputBlock& block, const PackOptions& options) {
  if (!options.joins() || !options.subset || !options.join().along.empty()) return false;
  if (is_classic_dataset(block.dataset.metadata))
    return block.dataset.metadata.record_dimension().has_value();
  const NetcdfView view = netcdf_view(block.dataset, block.lengths.get(), block.first_made_up);
  return std::ranges::any_of(view.dimensions, &NetcdfView::Dimension::may_grow);
}

}  // namespace

InputFacts facts_of(const InputBlock& block, const PackOptions& options) {
  const Metadata& metadata = block.dataset.metadata;
  InputFacts facts;
  facts.samples = block.samples;
  facts.is_classic = is_classic_dataset(metadata);
  facts.has_along = has_along(block, options);
  facts.has_unlimited = has_unlimited(block, options);
  const bool is_tiles = options.has_tiles();
  if (is_tiles) facts.has_no_icebergs = is_iceberg(metadata) && block.dataset.records == 0;
  // Iceberg files that are joined may belong to several sets, for example one set for each time.
  if (is_tiles || (options.joins() && has_version_of_icebergs(metadata)))
    facts.set_size = files_in_set(metadata);
  if (facts.set_size)
    facts.is_iceberg_set = has_version_of_icebergs(metadata) && !has_decomposition(metadata);
  return facts;
}

namespace {

// Checks that the input contains the groups that define the dimensions of a block. A block of an
// NMB file that counts as an input may use dimensions of groups above it.
Status check_levels(const InputBlock& block, const UnionInput& united) {
  const auto depth = block.group.empty() ? 0 : 1 + std::ranges::count(block.group, '/');
  for (DimId d = 0; d < united.levels.size(); ++d)
    if (united.levels[d] > depth)
      return Status(Code::kUnsupported,
                    "dimension " + in_quotes(united.member.metadata.dimension(d).name) +
                        " of block " + in_quotes(block.dataset.name) +
                        " belongs to a group above the block; choose this group, with which the "
                        "blocks below it are taken");
  return {};
}

// Removes losses of objects that a subset does not have. If only some variables are wanted, links
// and named datatypes are not wanted.
void keep_losses_of(const Dataset& subset, const SubsetRules& rules, std::vector<Loss>* losses) {
  if (rules.variables.empty()) return;
  constexpr std::string_view kVariable = "variable \"", kAttribute = "attribute \"";
  const auto is_wanted = [&](std::string_view name) {
    return subset.metadata.find_variable(name) ||
           std::ranges::any_of(rules.variables, [&](const SubsetRules::Variables& one) {
             const Result<bool> matches = one.matches(name);
             return matches.ok() && *matches;
           });
  };
  std::erase_if(*losses, [&](const Loss& loss) {
    std::string_view object = loss.object;
    if (object.starts_with(kVariable)) {
      object.remove_prefix(kVariable.size());
      return !is_wanted(object.substr(0, object.rfind('"')));
    }
    if (object.starts_with(kAttribute)) {
      object.remove_prefix(kAttribute.size());
      return !object.starts_with(':') && !is_wanted(object.substr(0, object.find(':')));
    }
    return !object.starts_with("dimension ");
  });
}

// Returns the name of the block above all groups of an input: `name` without the path of the group
// at its end; nullopt if `name` does not end so.
std::optional<std::string> root_of(const std::string& name, const std::string& group) {
  if (group.empty()) return name;
  if (name == group) return std::string();
  if (!name.ends_with("/" + group)) return std::nullopt;
  return name.substr(0, name.size() - group.size() - 1);
}

// Returns how the paths of the block's objects change. If the names of blocks keep the paths of
// groups, paths of objects in other groups of the input change likewise.
PathMove move_of(const InputBlock& block, const OutputName& name) {
  const std::string& before = block.dataset.name;
  const auto from = root_of(before, block.group), to = root_of(name.name, name.group);
  return from && to ? PathMove{*from, *to} : PathMove{before, name.name};
}

// Keeps those dimensions of a list that the subset has, with their new numbers.
void renumber(const std::vector<DimId>& of_subset, std::vector<DimId>* dimensions) {
  std::vector<DimId> kept;
  for (const DimId d : *dimensions)
    if (const auto found = std::ranges::find(of_subset, d); found != of_subset.end())
      kept.push_back(static_cast<DimId>(found - of_subset.begin()));
  *dimensions = std::move(kept);
}

// Returns the dimension along which a block is joined, if it has one.
std::optional<DimId> joined_dimension(const ClassicForm& form, const PackOptions& options) {
  const Metadata& metadata = form.dataset.metadata;
  const std::string& along = options.join().along;
  if (along == kFirstAxis) return std::nullopt;
  if (!along.empty()) return metadata.find_dimension(along_name(options));
  if (metadata.record_dimension()) return metadata.record_dimension();
  for (const ClassicView::FixedDimension& growing : form.fixed_dimensions)
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      if (std::ranges::count(metadata.variable(v).dimensions, growing.dimension) > 0)
        return growing.dimension;
  return std::nullopt;
}

}  // namespace

SubsetGroup subset_group(const InputBlock& block, const ClassicForm& form,
                         const PackOptions& options, DimensionSelections& selections) {
  SubsetGroup group{block.group, form.levels, selections};
  group.needed = block.needed.get();
  if (options.joins() && options.fill_missing()) group.kept = joined_dimension(form, options);
  return group;
}

Status visit_union_input(const InputBlock& block, const OutputName& name,
                         const PackOptions& options, std::shared_ptr<SourcePool> views,
                         std::uint64_t* budget, DimensionSelections* selections,
                         const std::function<Status(const UnionInput&)>& visit) {
  // A join needs the same record dimension in all inputs.
  NMB_ASSIGN(ClassicForm form,
             classic_form(block, std::move(views),
                          options.joins() ? std::string(along_name(options)) : std::string(),
                          keeps_chunks(options) ? OwnTypes::kKept : OwnTypes::kLost,
                          move_of(block, name)));
  DatasetSubset subset;
  if (options.subset) {
    NMB_ASSIGN(subset, subset_of(form.dataset, form.values, *options.subset,
                                 subset_group(block, form, options, *selections)));
    if (subset.is_outside) {
      const Metadata none;
      UnionInput outside{{none, {}}};
      outside.is_outside = true;
      outside.used = std::move(subset.used);
      return visit(outside);
    }
    NMB_TRY(select_own(&form, &subset.dataset));
  }
  const Dataset& dataset = options.subset ? subset.dataset : form.dataset;
  NMB_ASSIGN(Source values,
             hold_small(dataset, options.subset ? dataset.extent : form.values, budget));
  UnionInput united{DatasetUnion::member_of(dataset, std::move(values))};
  if (options.on_mismatch() == Mismatch::kWiden || options.join().rebase_times)
    united.member.has_default_fill =
        is_classic_dataset(block.dataset.metadata) || netcdf_view(block.dataset).is_netcdf;
  united.member.is_record_unused = form.is_record_unused;
  united.member.is_classic_model =
      block.dataset.metadata.find_attribute(kGlobal, kClassicModel).has_value();
  united.levels = form.levels;
  united.member.made_up = form.made_up;
  // A block with chunks may have several dimensions that grow, at any position.
  if (keeps_chunks(options)) {
    std::vector<std::size_t> kept;  // indexes of losses that this block does not have
    for (const ClassicView::FixedDimension& fixed : form.fixed_dimensions) {
      united.member.growing.push_back(fixed.dimension);
      kept.push_back(fixed.loss);
    }
    for (const ClassicView::EmptyDimension& empty : form.empty_dimensions) {
      united.member.empty.push_back(empty.name);
      kept.push_back(empty.loss);
    }
    std::ranges::sort(kept, std::greater<>());
    for (const std::size_t loss : kept)
      form.losses.erase(form.losses.begin() + static_cast<std::ptrdiff_t>(loss));
  }
  if (options.subset) {
    renumber(subset.dimensions, &united.member.growing);
    renumber(subset.dimensions, &united.member.made_up);
    united.levels.clear();
    for (const DimId d : subset.dimensions) united.levels.push_back(form.levels[d]);
    std::erase_if(form.lost_fill_values, [&](const std::string& variable) {
      return !dataset.metadata.find_variable(variable);
    });
    keep_losses_of(dataset, *options.subset, &form.losses);
    united.member.selected = std::move(subset.selected);
    united.has_wanted = subset.has_wanted;
    united.used = std::move(subset.used);
  }
  NMB_TRY(check_levels(block, united));
  if (keeps_chunks(options)) {
    united.member.own = std::move(form.own);
    united.member.own_attributes = std::move(form.own_attributes);
    united.member.attribute_forms = std::move(form.attribute_forms);
    united.member.named_types = std::move(form.named_types);
  }
  // Classic files have characters in place of strings of fixed length.
  if (options.classic || keeps_chunks(options)) form.own.clear();
  united.losses = losses_of(block, form);
  united.lost_fill_values = form.lost_fill_values;
  return visit(united);
}

}  // namespace nmb
