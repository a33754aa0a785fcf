#include "merge/dividing/split_dataset.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/name_rules.h"
#include "model/naming_attributes.h"

namespace nmb {

using By = BlockRule::By;

Result<bool> SplitDataset::sort(const Input& input) {
  rest_.clear();
  groups_.clear();
  along_.clear();
  dim_stamp_.assign(input.metadata.dimension_count(), 0);
  dim_local_.resize(input.metadata.dimension_count());
  stamp_ = 0;
  return rule_.by() == By::kDimension ? sort_along_dimension(input) : sort_variables(input);
}

Result<bool> SplitDataset::sort_variables(const Input& input) {
  const Metadata& from = input.metadata;
  const std::uint32_t variables = from.variable_count();
  bool has_conflict = false;
  const auto conflict = [&](ConflictKind kind, std::string_view object, std::string found,
                            std::string expected) {
    has_conflict = true;
    conflict_({kind, {}, std::string(object), std::move(found), std::move(expected)});
  };
  rule_.begin();
  if (const std::uint64_t unit = rule_.variables_per_block(); variables % unit != 0) {
    conflict(ConflictKind::kVariables, "", std::to_string(variables) + " variables",
             "a multiple of " + std::to_string(unit));
    return true;
  }
  group_of_.assign(variables, kStays);
  names_.assign(variables, {});
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::uint32_t last = kStays;
  for (VarId v = 0; v < variables; ++v) {
    const std::string_view name = from.variable(v).name;
    Result<std::optional<SplitName>> parts = rule_.of(from, v);
    if (!parts.ok()) {
      if (parts.status().code() != Code::kConflict) return parts.status();
      conflict(ConflictKind::kAttributeValue, std::string(name) + "@" + rule_.name(),
               parts.status().message(), "text or integers");
      continue;
    }
    if (!*parts) {
      if (keep_unmatched_)
        rest_.add(v, name);
      else
        conflict(ConflictKind::kUnmatchedVariable, name,
                 "a name that the expression does not match",
                 "a group in every name, or BlockRule::keep_unmatched");
      continue;
    }
    const std::string_view group = (*parts)->group;
    if (last == kStays || groups_[last] != group) {
      auto [it, is_new] = ids.emplace(group, static_cast<std::uint32_t>(groups_.size()));
      if (is_new) groups_.push_back(group);
      last = it->second;
    }
    group_of_[v] = last;
    names_[v] = (*parts)->rest;
  }
  order_by_group();
  find_shared_paths();
  return has_conflict || !groups_.empty();
}

// Reports each variable whose path is also the path of a block. An HDF5 group cannot hold two
// objects of the same name.
void SplitDataset::find_shared_paths() {
  std::unordered_set<std::string_view> paths;
  for (const std::string_view group : groups_)
    for (std::size_t end = 0; end != group.npos;) {
      end = group.find('/', end + 1);
      paths.insert(group.substr(0, end));
    }
  const auto check = [&](std::string_view group, std::string_view name, const std::string& path) {
    if (paths.contains(path))
      conflict_({ConflictKind::kVariableName, std::string(group), std::string(name),
                 "a variable with the path of a block", "distinct paths"});
  };
  for (const std::string_view name : rest_.names) check("", name, std::string(name));
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::uint32_t i = first_[g]; i < first_[g + 1]; ++i)
      check(groups_[g], names_[ordered_[i]],
            std::string(groups_[g]) + "/" + std::string(names_[ordered_[i]]));
}

void SplitDataset::order_by_group() {
  first_.assign(groups_.size() + 1, 0);
  for (std::uint32_t g : group_of_)
    if (g != kStays) ++first_[g + 1];
  for (std::size_t g = 0; g < groups_.size(); ++g) first_[g + 1] += first_[g];
  ordered_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (VarId v = 0; v < group_of_.size(); ++v)
    if (group_of_[v] != kStays) ordered_[next[group_of_[v]]++] = v;
}

Result<bool> SplitDataset::sort_along_dimension(const Input& input) {
  const Metadata& from = input.metadata;
  const std::optional<DimId> along = from.find_dimension(rule_.name());
  if (!along) return false;
  bool has_conflict = false;
  for (VarId v = 0; v < from.variable_count(); ++v) {
    const Variable variable = from.variable(v);
    const auto last = std::find(variable.dimensions.rbegin(), variable.dimensions.rend(), *along);
    const auto place = variable.dimensions.rend() - last - 1;
    if (place < 0) {
      rest_.add(v, variable.name);
    } else if (place > 0) {
      has_conflict = true;
      conflict_({ConflictKind::kVariable,
                 {},
                 std::string(variable.name),
                 "dimension " + in_quotes(rule_.name()) + " at position " + std::to_string(place),
                 "this dimension only at position 0"});
    } else {
      along_.add(v, variable.name);
    }
  }
  if (has_conflict) {
    along_.clear();
    return true;
  }
  if (along_.variables.empty()) return false;
  const Dimension dimension = from.dimension(*along);
  indexes_ = dimension.is_record() ? input.records : dimension.length;
  if (indexes_ == 0) {
    conflict_({ConflictKind::kDimension, {}, rule_.name(), "length 0", "a length of at least 1"});
    along_.clear();
  } else if (indexes_ > input.most_blocks) {
    return Status(Code::kLimit, "found dimension " + in_quotes(rule_.name()) + " of length " +
                                    std::to_string(indexes_) + ", expected at most " +
                                    std::to_string(input.most_blocks) +
                                    " blocks of a file of this size");
  }
  return true;
}

Status SplitDataset::make(const Input& input) {
  NMB_TRY(make_rest(input));
  return rule_.by() == By::kDimension ? make_indexes(input) : make_groups(input);
}

Status SplitDataset::make_rest(const Input& input) {
  const Metadata& from = input.metadata;
  Metadata metadata;
  metadata.check_names_at_once();
  NMB_TRY(from.try_each_attribute(kGlobal, [&](const Attribute& attribute) {
    return metadata.def_att(kGlobal, attribute.name, attribute.type, attribute.values);
  }));
  ++stamp_;
  drops_first_dimension_ = cuts_names_ = false;
  NMB_TRY(copy_variables(from, rest_, "", NamesLike(), &metadata));
  copy_unused_dimensions(from, &metadata);
  if (!input.keeps_empty &&
      metadata.attribute_count() + metadata.dimension_count() + rest_.variables.size() == 0)
    return {};
  return take_(part_of(input, rest_, "", metadata));
}

// Copies the dimensions that no variable of `from` uses.
void SplitDataset::copy_unused_dimensions(const Metadata& from, Metadata* to) {
  std::vector<bool> used(from.dimension_count());
  for (VarId v = 0; v < from.variable_count(); ++v)
    for (const DimId id : from.variable(v).dimensions) used[id] = true;
  for (DimId id = 0; id < from.dimension_count(); ++id) {
    if (used[id]) continue;
    const Dimension dimension = from.dimension(id);
    if (const auto added = to->def_dim(dimension.name, dimension.length); !added.ok())
      (void)clash(ConflictKind::kDimensionName, "", dimension.name, added.status());
  }
}

Status SplitDataset::make_groups(const Input& input) {
  Selection selection;
  Metadata metadata, before;
  metadata.check_names_at_once();
  before.check_names_at_once();
  drops_first_dimension_ = false;
  cuts_names_ = rule_.by() == By::kPrefix;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const std::string_view group = groups_[g];
    selection.clear();
    for (std::uint32_t i = first_[g]; i < first_[g + 1]; ++i)
      selection.add(ordered_[i], names_[ordered_[i]]);
    ++stamp_;
    std::swap(metadata, before);
    metadata.clear();
    NMB_TRY(copy_variables(input.metadata, selection, group, NamesLike(&before), &metadata));
    NMB_TRY(take_(part_of(input, selection, group, metadata)));
  }
  return {};
}

// Makes one part for each index of the dimension. The parts differ only in the positions of their
// values.
Status SplitDataset::make_indexes(const Input& input) {
  if (along_.variables.empty()) return {};
  const Metadata& from = input.metadata;
  Metadata metadata;
  metadata.check_names_at_once();
  ++stamp_;
  drops_first_dimension_ = true;
  cuts_names_ = false;
  NMB_TRY(copy_variables(from, along_, rule_.name(), NamesLike(), &metadata));
  std::vector<std::uint64_t> steps;
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    steps.push_back(from.is_record_variable(along_.variables[v])
                        ? input.layout.record_size
                        : metadata.slice_bytes(v).value_or(0));
  for (std::uint64_t i = 0; i < indexes_; ++i) {
    const std::string group = rule_.name() + "/" + padded_position(i, indexes_);
    DatasetPart part = part_of(input, along_, group, metadata);
    if (!part.is_whole) return take_(std::move(part));
    for (VarId v = 0; v < steps.size(); ++v) part.begins[v] += i * steps[v];
    NMB_TRY(take_(std::move(part)));
  }
  return {};
}

DatasetPart SplitDataset::part_of(const Input& input, const Selection& selection,
                                  std::string_view group, const Metadata& metadata) const {
  DatasetPart part{group, metadata, 0, {}, input.layout.record_size, true};
  if (metadata.record_dimension()) part.records = input.records;
  part.begins.reserve(selection.variables.size());
  for (VarId v : selection.variables)
    part.begins.push_back(input.metadata.begin(v) - input.layout.header_length);
  part.variables = selection.variables;
  part.is_whole = metadata.variable_count() == selection.variables.size();
  return part;
}

Status SplitDataset::clash(ConflictKind kind, std::string_view group, std::string_view name,
                           const Status& status) {
  if (status.code() != Code::kExists && status.code() != Code::kUsage) return status;
  conflict_({kind, std::string(group), std::string(name),
             status.code() == Code::kExists ? "two objects with this name" : "an illegal name",
             cuts_names_ ? "names that are distinct and legal without their group part"
                         : "names that are distinct and legal"});
  return {};
}

// Sets `ids` to the ids of the copied dimensions. The list is shorter than the variable's dimension
// list if there was a conflict.
Status SplitDataset::copy_dimensions(const Metadata& from, const Variable& variable,
                                     std::string_view group, NamesLike* like, Metadata* to,
                                     std::vector<DimId>* ids) {
  ids->clear();
  for (DimId id : variable.dimensions.subspan(drops_first_dimension_ ? 1 : 0)) {
    if (dim_stamp_[id] != stamp_) {
      const Dimension dimension = from.dimension(id);
      std::string_view name = dimension.name;
      if (cuts_names_) {
        NMB_ASSIGN(name, rule_.cut(name));
      }
      Result<DimId> added = like->def_dim(*to, name, dimension.length);
      if (!added.ok()) return clash(ConflictKind::kDimensionName, group, name, added.status());
      dim_stamp_[id] = stamp_;
      dim_local_[id] = *added;
    }
    ids->push_back(dim_local_[id]);
  }
  return {};
}

std::string SplitDataset::renamed(const Metadata& from, VarId owner,
                                  const Attribute& attribute) const {
  if (!cuts_names_ || attribute.type != Type::kChar || !names_variables(attribute.name)) return {};
  const std::string_view text(reinterpret_cast<const char*>(attribute.values.data()),
                              attribute.values.size());
  return with_new_names(attribute.name, text, [&](std::string_view word) {
    const std::optional<VarId> named = from.find_variable(word);
    return named && group_of_[*named] == group_of_[owner] ? names_[*named] : std::string_view();
  });
}

Status SplitDataset::copy_variables(const Metadata& from, const Selection& selection,
                                    std::string_view group, NamesLike like, Metadata* to) {
  const std::size_t dropped = drops_first_dimension_ ? 1 : 0;
  std::vector<DimId> dimensions;
  for (std::size_t i = 0; i < selection.variables.size(); ++i) {
    const Variable variable = from.variable(selection.variables[i]);
    NMB_TRY(copy_dimensions(from, variable, group, &like, to, &dimensions));
    if (dimensions.size() + dropped != variable.dimensions.size()) return {};
    Result<VarId> added = like.def_var(*to, selection.names[i], variable.type, dimensions);
    if (!added.ok()) {
      NMB_TRY(clash(ConflictKind::kVariableName, group, selection.names[i], added.status()));
      continue;
    }
    NMB_TRY(from.try_each_attribute(selection.variables[i], [&](const Attribute& attribute) {
      const std::string text = renamed(from, selection.variables[i], attribute);
      const Status one =
          text.empty()
              ? to->def_att(*added, attribute.name, attribute.type, attribute.values)
              : to->def_att(*added, attribute.name, attribute.type, std::as_bytes(std::span(text)));
      if (one.ok()) return one;
      return clash(ConflictKind::kAttributeName, group,
                   std::string(selection.names[i]) + "@" + std::string(attribute.name), one);
    }));
  }
  return {};
}

}  // namespace nmb
