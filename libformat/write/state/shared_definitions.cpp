#include "state/shared_definitions.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "dump/value_text.h"
#include "model/attribute_differences.h"
#include "model/name_rules.h"
#include "wire/joined_text.h"

namespace nmb {
namespace {

std::string length_text(const Dimension& dimension) {
  return dimension.is_record() ? "unlimited" : std::to_string(dimension.length);
}

std::string rank_text(std::size_t dimensions) {
  return joined_text(dimensions, dimensions == 1 ? " dimension" : " dimensions");
}

std::string object_text(std::string_view kind, std::string_view name) {
  return joined_text(kind, " ", in_quotes(name));
}

}  // namespace

Result<SharedDefinitions::Ids> SharedDefinitions::add(int rank, const Metadata& definitions) {
  assert(starts_.empty() || starts_.back().rank < rank);
  const Start start{rank, union_.dimension_count(), union_.variable_count(), block_attributes_};
  Ids ids;
  if (!starts_.empty())
    union_.check_names_at_once();  // add_*() searches names before settle_names() is called
  NMB_TRY(add_dimensions(rank, definitions, &ids.dimensions));
  NMB_TRY(add_block_attributes(rank, definitions));
  NMB_TRY(add_variables(rank, definitions, &ids));
  NMB_TRY(union_.settle_names());
  if (start.dimension < union_.dimension_count() || start.variable < union_.variable_count() ||
      start.block_attribute < block_attributes_)
    starts_.push_back(start);
  return ids;
}

Status SharedDefinitions::add_dimensions(int rank, const Metadata& definitions,
                                         std::vector<DimId>* ids) {
  const bool is_first = union_.dimension_count() == 0;
  ids->reserve(definitions.dimension_count());
  // Before a search for a name, tries the object that follows the last match, because ranks usually
  // define the same objects in the same order. A search in the table costs a cache miss if there
  // are very many names.
  DimId next = 0;
  for (DimId local = 0; local < definitions.dimension_count(); ++local) {
    const Dimension found = definitions.dimension(local);
    std::optional<DimId> id;
    if (!is_first)
      id = next < union_.dimension_count() && union_.dimension(next).name == found.name
               ? next
               : union_.find_dimension(found.name);
    if (!id) {
      if (found.is_record()) NMB_TRY(check_record_dimension(rank, found));
      NMB_ASSIGN(id, union_.def_dim(found.name, found.length));
    } else if (const Dimension expected = union_.dimension(*id); found.length != expected.length) {
      return conflict(object_text("dimension", found.name), "length", rank, length_text(found),
                      first_rank(&Start::dimension, *id), length_text(expected));
    }
    ids->push_back(*id);
    next = *id + 1;
  }
  return {};
}

Status SharedDefinitions::check_record_dimension(int rank, const Dimension& dimension) const {
  const std::optional<DimId> record = union_.record_dimension();
  if (!record) return {};
  const std::string found = in_quotes(dimension.name);
  const std::string expected = in_quotes(union_.dimension(*record).name);
  return conflict("dimensions " + expected + " and " + found, "record dimension", rank, found,
                  first_rank(&Start::dimension, *record), expected, ", a block can have only one");
}

Status SharedDefinitions::add_block_attributes(int rank, const Metadata& definitions) {
  return definitions.try_each_attribute(kGlobal, [&](const Attribute& found) -> Status {
    if (const auto expected = union_.find_attribute(kGlobal, found.name)) {
      if (has_same_value(found, *expected)) return {};
      return attribute_conflict(object_text("attribute", found.name), rank, found,
                                first_rank_of_block_attribute(found.name), *expected);
    }
    NMB_TRY(union_.def_att(kGlobal, found.name, found.type, found.values));
    ++block_attributes_;
    return {};
  });
}

Status SharedDefinitions::add_variables(int rank, const Metadata& definitions, Ids* ids) {
  const bool is_first = union_.variable_count() == 0;
  ids->variables.reserve(definitions.variable_count());
  std::vector<DimId> dimensions;
  VarId next = 0;  // the variable to try before a search, as in add_dimensions()
  for (VarId local = 0; local < definitions.variable_count(); ++local) {
    const Variable found = definitions.variable(local);
    dimensions.clear();
    for (const DimId dimension : found.dimensions) dimensions.push_back(ids->dimensions[dimension]);
    std::optional<VarId> id;
    if (!is_first)
      id = next < union_.variable_count() && union_.variable(next).name == found.name
               ? next
               : union_.find_variable(found.name);
    if (!id) {
      NMB_ASSIGN(id, union_.def_var(found.name, found.type, dimensions));
      NMB_TRY(definitions.try_each_attribute(local, [&](const Attribute& attribute) {
        return union_.def_att(*id, attribute.name, attribute.type, attribute.values);
      }));
    } else {
      NMB_TRY(check_variable(rank, definitions, local, *id, dimensions));
    }
    ids->variables.push_back(*id);
    next = *id + 1;
  }
  return {};
}

Status SharedDefinitions::check_variable(int rank, const Metadata& definitions, VarId local,
                                         VarId id, std::span<const DimId> dimensions) const {
  const Variable found = definitions.variable(local), expected = union_.variable(id);
  const auto differs = [&](std::string_view field, std::string_view what, std::string_view other) {
    return conflict(object_text("variable", found.name), field, rank, what,
                    first_rank(&Start::variable, id), other);
  };
  if (found.type != expected.type)
    return differs("type", type_name(found.type), type_name(expected.type));
  if (dimensions.size() != expected.dimensions.size())
    return differs("shape", rank_text(dimensions.size()), rank_text(expected.dimensions.size()));
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] != expected.dimensions[i])
      return differs(joined_text("dimension at index ", i),
                     in_quotes(union_.dimension(dimensions[i]).name),
                     in_quotes(union_.dimension(expected.dimensions[i]).name));
  return check_attributes(rank, definitions, local, id);
}

Status SharedDefinitions::check_attributes(int rank, const Metadata& definitions, VarId local,
                                           VarId id) const {
  Status status;
  const auto differ = [&](const Attribute* found, const Attribute* expected) {
    if (!status.ok()) return;
    const std::string object = object_text("variable", union_.variable(id).name) + ": " +
                               object_text("attribute", (found ? found : expected)->name);
    const int first = first_rank(&Start::variable, id);
    const auto text = [](const Attribute* one) { return one ? value_text(*one) : "no attribute"; };
    if (found && expected)
      status = attribute_conflict(object, rank, *found, first, *expected);
    else
      status = conflict(object, "", rank, text(found), first, text(expected));
  };
  const auto any = [](std::string_view) { return true; };
  for_each_difference(definitions, local, union_, id, any, has_same_value, differ);
  return status;
}

Status SharedDefinitions::attribute_conflict(std::string_view object, int rank,
                                             const Attribute& found, int first_rank,
                                             const Attribute& expected) const {
  if (found.type != expected.type)
    return conflict(object, "type", rank, type_name(found.type), first_rank,
                    type_name(expected.type));
  const ValueDifference values = value_difference(found, expected);
  return conflict(object, "values", rank, values.found, first_rank, values.expected, values.remark);
}

int SharedDefinitions::first_rank(std::uint32_t Start::*first, std::uint32_t object) const {
  const auto after = std::ranges::upper_bound(starts_, object, {}, first);
  assert(after != starts_.begin());
  return std::prev(after)->rank;
}

int SharedDefinitions::first_rank_of_block_attribute(std::string_view name) const {
  std::uint32_t before = 0;
  bool is_before = true;
  union_.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
    is_before = is_before && attribute.name != name;
    if (is_before) ++before;
  });
  return first_rank(&Start::block_attribute, before);
}

Status SharedDefinitions::conflict(std::string_view object, std::string_view field, int rank,
                                   std::string_view found, int first_rank,
                                   std::string_view expected, std::string_view remark) const {
  std::string message = joined_text(object_text("block", name_), ": ", object, ": ");
  if (!field.empty()) message += joined_text(field, ": ");
  message += joined_text("found ", found, " on rank ", rank, ", expected ", expected,
                         " as on rank ", first_rank);
  return Status(Code::kConflict, {}, kNoOffset, {}, joined_text(message, remark), rank);
}

}  // namespace nmb
