#include "merge/uniting/dataset_union.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "dump/value_text.h"
#include "merge/uniting/value_comparison.h"
#include "model/attribute_differences.h"
#include "model/heap_value.h"
#include "model/name_rules.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/own_attribute.h"
#include "sources/laid_values.h"
#include "sources/value_rebasing.h"
#include "sources/value_source.h"
#include "wire/checked.h"
#include "wire/endian.h"

namespace nmb {

namespace {

using What = UnionNote::What;
using Along = UnionRules::Along;

constexpr const char* kNoneText = "none";

// Returns a text with the name of the value's type and the value. The name distinguishes equal
// values of different types.
std::string typed_text(const Attribute& attribute) {
  return std::string(type_name(attribute.type)) + " " + value_text(attribute);
}

// The netCDF conventions give these attributes the type of the variable.
bool has_type_of_variable(std::string_view attribute) {
  constexpr std::array<std::string_view, 8> kNames{"_FillValue",  "missing_value", "valid_min",
                                                   "valid_max",   "valid_range",   "actual_range",
                                                   "flag_values", "flag_masks"};
  return std::ranges::find(kNames, attribute) != kNames.end();
}

// Returns the name of a variable's type. own: see DatasetUnion::Member::own_of().
std::string type_text(const ClassicView::OwnValues* own, Type type) {
  if (!own) return std::string(type_name(type));
  const ExtendedType& strings = own->type();
  if (strings.type_class != TypeClass::kString) return own->types.text(own->types.last());
  constexpr std::array<std::string_view, 3> kPaddings{"null-terminated", "null-padded",
                                                      "space-padded"};
  return (strings.variable_length ? "strings of variable length ("
                                  : "strings of " + std::to_string(strings.size) + " bytes (") +
         std::string(kPaddings[static_cast<std::size_t>(strings.padding)]) +
         (strings.character_set == CharacterSet::kUtf8 ? ", UTF-8)" : ", ASCII)");
}

constexpr const char* kFillValue = "_FillValue";

}  // namespace

bool tells_meaning(std::string_view attribute) {
  constexpr std::array<std::string_view, 21> kNames{
      "units",      "units_metadata", "calendar",    "leap_year", "leap_month",  "month_lengths",
      "_FillValue", "missing_value",  "valid_min",   "valid_max", "valid_range", "scale_factor",
      "add_offset", "_Unsigned",      "_Encoding",   "dtype",     "compress",    "axis",
      "positive",   "standard_name",  "cell_methods"};
  return std::ranges::find(kNames, attribute) != kNames.end() || attribute.starts_with("flag_");
}

DatasetUnion::Member DatasetUnion::member_of(const Dataset& dataset, Source values) {
  Member member{dataset.metadata, {}, dataset.layout.record_size, dataset.records};
  for (VarId v = 0; v < dataset.metadata.variable_count(); ++v)
    member.begins.push_back(dataset.metadata.begin(v) - dataset.layout.header_length);
  member.values = std::move(values);
  return member;
}

DatasetUnion::DatasetUnion(UnionRules rules, TakeNote note)
    : rules_(std::move(rules)),
      note_(std::move(note)),
      are_classic_model_(rules_.keeps_classic_model) {
  all_.metadata = Metadata();
  all_.metadata.check_names_at_once();
}

Status DatasetUnion::add(const Member& member) {
  members_.push_back(
      {member.group, member.record_size, member.values, member.has_default_fill, member.selected});
  const auto variables = all_.metadata.variable_count();
  are_classic_model_ = are_classic_model_ && member.is_classic_model;
  for (const std::string& name : member.empty)
    if (std::ranges::find(empty_, name) == empty_.end()) empty_.push_back(name);
  DimIds ids;
  NMB_TRY(add_dimensions(member, &ids));
  add_named_types(member);
  if (here() == 0 || attributes_agree(member, kGlobal, kGlobal, false, nullptr))
    NMB_TRY(unite_attributes(member, kGlobal, kGlobal));
  if (rules_.rebases_times) note_bounds(member.metadata);
  NMB_TRY(add_variables(member, ids));
  if (rules_.complete && here() > 0) report_missing(variables);
  return {};
}

std::vector<std::string> DatasetUnion::other_growing() const {
  std::vector<std::string> names;
  for (DimId id = 0; id < joined_.size(); ++id)
    if (!joined_[id].is && (grows_[id] || all_.metadata.record_dimension() == id))
      names.emplace_back(all_.metadata.dimension(id).name);
  return names;
}

bool DatasetUnion::has_classic_definitions() const {
  const bool has_strings =
      std::ranges::any_of(forms_, [](const auto& form) { return form.second.is_string(); });
  if (has_own_types() || has_strings || !type_losses(all_.metadata, Kind::kCdf1).empty())
    return false;
  const auto growing = std::ranges::find(grows_, true);
  const auto count = std::ranges::count(grows_, true) + (all_.metadata.record_dimension() ? 1 : 0) +
                     std::ssize(empty_);
  if (count > 1) return false;
  if (growing == grows_.end()) return true;
  const auto id = static_cast<DimId>(growing - grows_.begin());
  for (VarId v = 0; v < all_.metadata.variable_count(); ++v) {
    const std::span<const DimId> dimensions = all_.metadata.variable(v).dimensions;
    if (!dimensions.empty() && std::ranges::count(dimensions.subspan(1), id) > 0) return false;
  }
  return true;
}

// --- notes and conflicts ---

void DatasetUnion::tell(What what, ConflictKind kind, std::string_view object, std::string found,
                        std::string expected, std::uint32_t first, std::uint32_t second) {
  if (members_[first].group != members_[second].group) {
    found += " in group /" + members_[second].group;
    expected += " as in /" + members_[first].group;
  }
  note_({what, kind, std::string(object), std::move(found), std::move(expected), first, second});
}

void DatasetUnion::conflict(ConflictKind kind, std::string_view object, std::string found,
                            std::string expected, std::uint32_t first) {
  mismatch(false, kind, object, std::move(found), std::move(expected), first);
}

void DatasetUnion::mismatch(bool may_skip, ConflictKind kind, std::string_view object,
                            std::string found, std::string expected, std::uint32_t first) {
  tell(may_skip && rules_.skips ? What::kLeftOut : What::kConflict, kind, object, std::move(found),
       std::move(expected), first, here());
}

Status DatasetUnion::clash(ConflictKind kind, std::string_view object, const Status& status,
                           std::uint32_t first) {
  if (status.code() == Code::kExists)
    conflict(kind, object, "a second object with this name", "one object", first);
  else if (status.code() == Code::kUsage)
    conflict(kind, object, "an illegal name", "a legal name", here());
  else
    return status;
  return {};
}

std::string DatasetUnion::object_of(VarId known, std::string_view attribute) const {
  std::string object;
  if (known != kGlobal) object = all_.metadata.variable(known).name;
  return object.append("@").append(attribute);
}

std::uint32_t DatasetUnion::first_of(VarId known, std::string_view attribute) const {
  const auto later = attribute_members_.find(object_of(known, attribute));
  if (later != attribute_members_.end()) return later->second;
  return known == kGlobal ? 0 : placed_[known].places.front().member;
}

// --- dimensions ---

// Returns for each dimension of the dataset whether values are joined along it.
std::vector<bool> DatasetUnion::along_of(const Member& member) const {
  const Metadata& metadata = member.metadata;
  std::vector<bool> along(metadata.dimension_count());
  if (is_tiled()) {
    for (DimId id = 0; id < metadata.dimension_count(); ++id)
      along[id] = decomposition_of(metadata, id, 0).has_value();
    return along;
  }
  const auto add = [&](std::optional<DimId> id) {
    if (id) along[*id] = true;
  };
  bool is_known = false;
  for (DimId id = 0; id < joined_.size(); ++id) {
    if (!joined_[id].is) continue;
    is_known = true;
    add(metadata.find_dimension(all_.metadata.dimension(id).name));
  }
  if (rules_.along == Along::kRecords && !is_known) {
    const auto used = std::ranges::find_if(member.growing, [&](DimId id) {
      for (VarId v = 0; v < metadata.variable_count(); ++v)
        if (std::ranges::count(metadata.variable(v).dimensions, id) > 0) return true;
      return false;
    });
    if (metadata.record_dimension())
      add(metadata.record_dimension());
    else if (used != member.growing.end())
      add(*used);
  }
  if (rules_.along == Along::kDimension && !is_known)
    add(metadata.find_dimension(rules_.dimension));
  if (rules_.along == Along::kFirstAxis)
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      // The last dimension of a variable with a type of its own is the bytes of a value.
      if (const auto dimensions = metadata.variable(v).dimensions;
          dimensions.size() > (member.own_of(v) ? 1 : 0))
        add(dimensions.front());
  return along;
}

// Returns nullopt if the dimension's decomposition is invalid.
std::optional<DatasetUnion::DimensionRange> DatasetUnion::part_of(const Member& member, DimId local,
                                                                  bool is_joined) {
  const Dimension found = member.metadata.dimension(local);
  const std::uint64_t length = found.is_record() ? member.records : found.length;
  if (!is_joined || !is_tiled()) return DimensionRange{0, length, found.length};
  const auto part = decomposition_of(member.metadata, local, member.records);
  if (part->found.empty()) return DimensionRange{part->first, part->count, part->length};
  conflict(ConflictKind::kDecomposition, found.name, part->found, part->expected, here());
  return std::nullopt;
}

// Returns the total length along the dimension.
std::uint64_t DatasetUnion::length_of(DimId id) const {
  const Dimension dimension = all_.metadata.dimension(id);
  return dimension.is_record() ? all_.records : dimension.length;
}

// For joins along the first dimension of each variable: if the union already has a variable of the
// dataset, both have the same first dimension. Returns this united dimension for each dimension of
// the dataset, or nullopt. The names of these dimensions do not matter, because HDF5 dimensions may
// have none.
DatasetUnion::DimIds DatasetUnion::known_rows(const Metadata& metadata) const {
  DimIds ids(metadata.dimension_count());
  for (VarId v = 0; v < metadata.variable_count() && rules_.along == Along::kFirstAxis; ++v) {
    const Variable variable = metadata.variable(v);
    if (variable.dimensions.empty() || ids[variable.dimensions.front()]) continue;
    const std::optional<VarId> known = all_.metadata.find_variable(variable.name);
    if (!known || placed_[*known].axes.empty()) continue;
    ids[variable.dimensions.front()] = all_.metadata.variable(*known).dimensions.front();
  }
  return ids;
}

// Reports two variables of a dataset whose first dimensions have different lengths here, although
// they are one dimension, `known`, in earlier datasets.
void DatasetUnion::report_rows(const Member& member, DimId local, std::uint64_t rows, DimId known) {
  const auto text = [](std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " row" : " rows");
  };
  const std::uint64_t expected = joined_[known].counts.back();
  for (VarId v = 0; v < member.metadata.variable_count(); ++v) {
    const Variable variable = member.metadata.variable(v);
    if (variable.dimensions.empty() || variable.dimensions.front() != local) continue;
    const VarId united = all_.metadata.find_variable(variable.name).value_or(kGlobal);
    return conflict(ConflictKind::kShape, variable.name, text(rows),
                    text(expected) + " like " + rows_text(united, known),
                    dimension_members_[known]);
  }
  conflict(ConflictKind::kDimension, member.metadata.dimension(local).name, text(rows),
           text(expected), dimension_members_[known]);
}

// Describes the first dimension of a variable of the union.
std::string DatasetUnion::rows_text(VarId variable, DimId rows) const {
  for (VarId v = 0; v < all_.metadata.variable_count(); ++v) {
    const Variable other = all_.metadata.variable(v);
    if (v != variable && !other.dimensions.empty() && other.dimensions.front() == rows)
      return "the first dimension of " + in_quotes(other.name);
  }
  return "a first dimension that no other variable has";
}

// Returns the name that a dimension gets in the union. A dimension without a name in the input is
// that of the union with the same length, whatever its number is. taken: united dimensions that
// dimensions of this dataset have.
std::string DatasetUnion::made_up_name(const Member& member, DimId local,
                                       const std::set<DimId>& taken) const {
  const Dimension found = member.metadata.dimension(local);
  std::string name(found.name);
  if (rules_.along != Along::kNothing || std::ranges::count(member.made_up, local) == 0)
    return name;
  const auto fits = [&](DimId id) {
    return all_.metadata.dimension(id).length == found.length && !taken.contains(id);
  };
  const std::optional<DimId> same = all_.metadata.find_dimension(name);
  if (!same || fits(*same)) return name;
  for (const DimId id : made_up_)
    if (fits(id)) return std::string(all_.metadata.dimension(id).name);
  for (std::size_t n = 0;
       all_.metadata.find_dimension(name) || member.metadata.find_dimension(name); ++n)
    name = "phony_dim_" + std::to_string(n);
  return name;
}

Status DatasetUnion::add_dimensions(const Member& member, DimIds* ids) {
  const std::vector<bool> along = along_of(member);
  const DimIds known = known_rows(member.metadata);
  std::set<DimId> taken;  // united dimensions that a dimension of this dataset has
  for (Joined& joined : joined_) {
    if (!joined.is) continue;
    joined.counts.push_back(0);
    if (is_tiled()) joined.firsts.push_back(0);
  }
  for (DimId local = 0; local < member.metadata.dimension_count(); ++local) {
    Dimension found = member.metadata.dimension(local);
    const std::string name = made_up_name(member, local, taken);
    found.name = name;
    std::optional<DimId> id =
        known[local] ? known[local] : all_.metadata.find_dimension(found.name);
    const std::optional<DimensionRange> part = part_of(member, local, along[local]);
    if (!part || (id && is_tiled() && !is_alike(found, along[local] ? part->whole : 0, *id))) {
      id.reset();
    } else if (id && joined_[*id].is && !taken.insert(*id).second &&
               joined_[*id].counts.back() != part->count) {
      report_rows(member, local, part->count, *id);
      id.reset();
    } else if (id && joined_[*id].is) {
      joined_[*id].counts.back() = part->count;
      if (is_tiled()) joined_[*id].firsts.back() = part->first;
    } else if (id) {
      if (std::ranges::count(member.made_up, local) > 0) taken.insert(*id);
      NMB_TRY(compare_dimensions(member, local, *id));
    } else if (const auto record = all_.metadata.record_dimension(); found.is_record() && record) {
      conflict(ConflictKind::kDimensionName, found.name, "this record dimension",
               in_quotes(all_.metadata.dimension(*record).name), dimension_members_[*record]);
    } else {
      NMB_ASSIGN(id, add_dimension(found, *part, along[local],
                                   std::ranges::count(member.growing, local) > 0));
      if (found.is_record()) is_record_used_ = !member.is_record_unused;
      if (id && std::ranges::count(member.made_up, local) > 0) {
        made_up_.push_back(*id);
        taken.insert(*id);
      }
    }
    ids->push_back(id);
  }
  return {};
}

// Adds the named datatypes of a dataset.
void DatasetUnion::add_named_types(const Member& member) {
  for (const TypeTable& types : member.named_types) {
    const std::string& name = types.at(types.last()).name;
    const auto known = std::ranges::find_if(
        named_types_, [&](const TypeTable& one) { return one.at(one.last()).name == name; });
    if (known == named_types_.end())
      named_types_.push_back(types);
    else if (types.only(types.last(), TypeTable::Names::kDropped) !=
             known->only(known->last(), TypeTable::Names::kDropped))
      other_types_.emplace(static_cast<std::size_t>(known - named_types_.begin()), here());
  }
  if (!rules_.selects_types) report_other_types();
}

void DatasetUnion::report_other_types() {
  for (const auto& [number, member] : other_types_) {
    const TypeTable& types = named_types_[number];
    tell(rules_.skips ? UnionNote::What::kLeftOut : UnionNote::What::kConflict, ConflictKind::kType,
         types.at(types.last()).name, "another definition of the named datatype",
         "the one of the first file", 0, member);
  }
  other_types_.clear();
}

void DatasetUnion::keep_named_types(const std::set<std::size_t>& kept) {
  std::erase_if(other_types_, [&](const auto& other) { return !kept.contains(other.first); });
  report_other_types();
  std::vector<TypeTable> types;
  for (const std::size_t number : kept) types.push_back(std::move(named_types_[number]));
  named_types_ = std::move(types);
}

void DatasetUnion::visit_own_types(const std::function<void(const TypeTable&)>& visit) const {
  for (const auto& [variable, own] : own_) visit(own.types);
  for (const auto& [owner, name] : own_attributes_) {
    const auto attribute = all_.metadata.find_attribute(owner, name);
    if (!attribute) continue;
    const Result<OwnAttributeValues> own = decode_own(attribute->values);
    if (own.ok()) visit(own->types);
  }
}

// Adds a new dimension. Returns nullopt if its name is illegal.
Result<std::optional<DimId>> DatasetUnion::add_dimension(const Dimension& found,
                                                         const DimensionRange& part, bool is_joined,
                                                         bool grows) {
  const Result<DimId> added =
      all_.metadata.def_dim(found.name, found.is_record() ? found.length : part.whole);
  if (!added.ok()) {
    NMB_TRY(clash(ConflictKind::kDimensionName, found.name, added.status(), here()));
    return std::optional<DimId>();
  }
  dimension_members_.push_back(here());
  grows_.push_back(grows);
  Joined& joined = joined_.emplace_back();
  joined.is = is_joined;
  if (is_joined) {
    joined.counts.resize(members_.size());
    joined.counts.back() = part.count;
    if (is_tiled()) {
      joined.firsts.resize(members_.size());
      joined.firsts.back() = part.first;
    }
  }
  if (found.is_record()) all_.records = is_joined && is_tiled() ? part.whole : part.count;
  return std::optional<DimId>(*added);
}

// For tiles: returns whether the length of the whole dimension is the same as in earlier datasets.
// whole: the length of the whole dimension; 0 if the dimension has no decomposition.
bool DatasetUnion::is_alike(const Dimension& found, std::uint64_t whole, DimId known) {
  const auto text = [](std::uint64_t length) {
    return length == 0 ? "no " + std::string(kDecompositionAttribute)
                       : "a part of a dimension of length " + std::to_string(length);
  };
  const std::uint64_t expected = joined_[known].is ? length_of(known) : 0;
  if (whole == expected) return true;
  conflict(ConflictKind::kDecomposition, found.name, text(whole), text(expected),
           dimension_members_[known]);
  return false;
}

// Gives the record dimension of the union a fixed length. Values of earlier datasets may still lie
// in records. grows: whether the dimension may still grow.
Status DatasetUnion::fix_record_dimension(std::uint64_t length, bool grows) {
  const Metadata& from = all_.metadata;
  const DimId record = *from.record_dimension();
  Metadata fixed;
  fixed.check_names_at_once();
  const auto add_attributes = [&](VarId owner) {
    return from.try_each_attribute(owner, [&](const Attribute& attribute) {
      return fixed.def_att(owner, attribute.name, attribute.type, attribute.values);
    });
  };
  for (DimId id = 0; id < from.dimension_count(); ++id) {
    const Dimension dimension = from.dimension(id);
    NMB_TRY(fixed.def_dim(dimension.name, id == record ? length : dimension.length).status());
  }
  NMB_TRY(add_attributes(kGlobal));
  for (VarId v = 0; v < from.variable_count(); ++v) {
    const Variable variable = from.variable(v);
    NMB_TRY(fixed.def_var(variable.name, variable.type, variable.dimensions).status());
    NMB_TRY(add_attributes(v));
  }
  all_.metadata = std::move(fixed);
  all_.records = 0;
  grows_[record] = grows;
  return {};
}

Status DatasetUnion::compare_dimensions(const Member& member, DimId local, DimId known) {
  const Dimension found = member.metadata.dimension(local);
  const Dimension expected = all_.metadata.dimension(known);
  if (found.is_record() && member.is_record_unused) return {};
  if (found.is_record() && expected.is_record()) {
    compare_records(member, found, known);
    return {};
  }
  if (expected.is_record() && !is_record_used_) {
    dimension_members_[known] = here();
    return fix_record_dimension(found.length, rules_.grows_anywhere);
  }
  // A dimension that grows is the record dimension only if it is the first of its variables.
  const bool grows = rules_.grows_anywhere && !is_tiled();
  if (grows && found.is_record() && grows_[known] && member.records == expected.length) return {};
  if (grows && expected.is_record() && std::ranges::count(member.growing, local) > 0 &&
      found.length == all_.records)
    return {};
  if (found.length == expected.length) return {};
  const auto text = [](const Dimension& dimension, std::uint64_t count) {
    return dimension.is_record() ? std::to_string(count) + " records"
                                 : "length " + std::to_string(dimension.length);
  };
  conflict(ConflictKind::kDimension, found.name, text(found, member.records),
           text(expected, all_.records), dimension_members_[known]);
  return {};
}

void DatasetUnion::compare_records(const Member& member, const Dimension& found, DimId known) {
  if (!std::exchange(is_record_used_, true)) {
    all_.records = member.records;
    dimension_members_[known] = here();
    return;
  }
  if (member.records == all_.records) return;
  conflict(ConflictKind::kDimension, found.name, std::to_string(member.records) + " records",
           std::to_string(all_.records) + " records", dimension_members_[known]);
}

// --- attributes ---

// Returns whether two attributes are the same. If types may be widened, attributes of different
// types are the same if their numbers are equal.
bool DatasetUnion::is_same(const Attribute& found, const Attribute& expected) const {
  if (found.type == expected.type) return has_same_value(found, expected);
  const auto wide = narrowest_type(type_bit(found.type) | type_bit(expected.type));
  return rules_.widens && wide &&
         widened_values(found.values, found.type, *wide) ==
             widened_values(expected.values, expected.type, *wide);
}

bool DatasetUnion::is_same(const Member& member, VarId local, VarId known, const Attribute& found,
                           const Attribute& expected) const {
  const bool is_own_here = member.is_own(local, found.name);
  if (is_own_here != is_own(known, expected.name)) return false;
  return is_own_here ? is_same_own(found.values, expected.values) : is_same(found, expected);
}

// Returns the values of two different attributes as texts: first the found value, then the expected
// value. A missing attribute is nullptr.
std::pair<std::string, std::string> DatasetUnion::difference(const Member& member, VarId local,
                                                             VarId known, const Attribute* found,
                                                             const Attribute* expected) const {
  const bool is_own_here = found && member.is_own(local, found->name);
  const bool is_own_there = expected && is_own(known, expected->name);
  const auto text = [](const Attribute* attribute, bool is_own) {
    if (!attribute) return std::string(kNoneText);
    return is_own ? own_text(attribute->values) : value_text(*attribute);
  };
  std::pair<std::string, std::string> texts{text(found, is_own_here), text(expected, is_own_there)};
  if (!found || !expected) return texts;
  if (is_own_here || is_own_there) {
    if (texts.first == texts.second)
      texts = {own_type_text(is_own_here ? found : nullptr) + " " + texts.first,
               own_type_text(is_own_there ? expected : nullptr) + " " + texts.second};
    return texts;
  }
  if (found->type != expected->type) return {typed_text(*found), typed_text(*expected)};
  ValueDifference values = value_difference(*found, *expected);
  return {std::move(values.found) + values.remark, std::move(values.expected)};
}

// Adds an attribute of a variable whose type may have been widened.
Status DatasetUnion::add_attribute(VarId known, Type of_variable, const Attribute& attribute) {
  const Type type = known == kGlobal ? attribute.type : all_.metadata.variable(known).type;
  if (known == kGlobal || type == of_variable || attribute.type != of_variable ||
      !has_type_of_variable(attribute.name))
    return all_.metadata.def_att(known, attribute.name, attribute.type, attribute.values);
  return all_.metadata.def_att(known, attribute.name, type,
                               widened_values(attribute.values, attribute.type, type));
}

// Keeps the type and the form of a new attribute.
void DatasetUnion::keep_form(const Member& member, VarId local, VarId known,
                             std::string_view attribute) {
  if (member.is_own(local, attribute)) own_attributes_.emplace(known, attribute);
  if (const AttributeForm* const form = member.form_of(local, attribute))
    forms_.emplace(std::pair(known, std::string(attribute)), *form);
}

bool DatasetUnion::is_strict(std::string_view attribute) const {
  return rules_.agreement.strict_attributes || rules_.distinct_variables ||
         tells_meaning(attribute);
}

bool DatasetUnion::attributes_agree(const Member& member, VarId local, VarId known, bool may_skip,
                                    const Rebase* rebase) {
  const Metadata& metadata = member.metadata;
  bool agree = true;
  const auto counts = [&](std::string_view name) {
    if (rebase && rebase->is && (name == "units" || name == "calendar")) return false;
    return is_strict(name) && !is_dropped(known, name);
  };
  const auto same = [&](const Attribute& found, const Attribute& expected) {
    return is_same(member, local, known, found, expected);
  };
  for_each_difference(
      metadata, local, all_.metadata, known, counts, same,
      [&](const Attribute* found, const Attribute* expected) {
        // A dataset may have global attributes that other datasets do not have.
        if (known == kGlobal && !(found && expected) && !rules_.agreement.strict_attributes) return;
        // A variable that is left out is reported only once.
        if (!std::exchange(agree, false) && may_skip && rules_.skips) return;
        const std::string_view name = (found ? found : expected)->name;
        auto [is, was] = difference(member, local, known, found, expected);
        if (rebase && name == "units") was += rebase->hint;
        mismatch(may_skip, ConflictKind::kAttribute, object_of(known, name), std::move(is),
                 std::move(was), first_of(known, name));
      });
  return agree;
}

// Adds the new attributes of a dataset. Attributes that only some datasets have are kept too.
Status DatasetUnion::unite_attributes(const Member& member, VarId local, VarId known,
                                      bool is_rebased) {
  const Metadata& metadata = member.metadata;
  Status status;
  const auto counts = [&](std::string_view name) {
    return !is_dropped(known, name) && !(is_rebased && name == "units");
  };
  const auto same = [&](const Attribute& found, const Attribute& expected) {
    return is_same(member, local, known, found, expected);
  };
  for_each_difference(metadata, local, all_.metadata, known, counts, same,
                      [&](const Attribute* found, const Attribute* expected) {
                        if (!status.ok()) return;
                        const std::string_view name = (found ? found : expected)->name;
                        const std::string object = object_of(known, name);
                        if (expected || here() > 0) {
                          auto [is, was] = difference(member, local, known, found, expected);
                          tell(What::kDiffers, ConflictKind::kAttribute, object, std::move(is),
                               std::move(was), first_of(known, name), here());
                        }
                        if (expected) return;
                        const Type of_variable =
                            local == kGlobal ? found->type : metadata.variable(local).type;
                        status = add_attribute(known, of_variable, *found);
                        if (status.ok()) {
                          attribute_members_.emplace(object, here());
                          keep_form(member, local, known, name);
                        } else {
                          status = clash(ConflictKind::kAttributeName, object, status, here());
                        }
                      });
  return status;
}

// --- variables ---

Status DatasetUnion::add_variables(const Member& member, const DimIds& ids) {
  const Metadata& from = member.metadata;
  std::vector<DimId> dimensions;
  for (VarId local = 0; local < from.variable_count(); ++local) {
    const Variable found = from.variable(local);
    dimensions.clear();
    std::vector<std::uint32_t> axes;
    for (const DimId id : found.dimensions) {
      if (!ids[id]) continue;
      if (joined_[*ids[id]].is) axes.push_back(static_cast<std::uint32_t>(dimensions.size()));
      dimensions.push_back(*ids[id]);
    }
    const auto known = all_.metadata.find_variable(found.name);
    if (known) placed_[*known].last = here();
    // If a dimension of the variable has no number in the union, the reason was already reported.
    if (dimensions.size() < found.dimensions.size()) continue;
    if (axes.size() > 1 && !is_tiled()) {
      conflict(ConflictKind::kShape, found.name,
               std::to_string(axes.size()) + " dimensions along which values would be joined",
               "at most one", here());
    } else if (!known && here() > 0 && rules_.complete && !rules_.fills) {
      mismatch(true, ConflictKind::kExtraVariable, found.name, "one", kNoneText, 0);
    } else if (!known) {
      const auto added = static_cast<VarId>(placed_.size());
      NMB_TRY(add_variable(member, local, dimensions, std::move(axes)));
      if (rules_.complete && placed_.size() > added)
        for (std::uint32_t other = 0; other < here(); ++other) report_filled(added, here(), other);
    } else if (rules_.distinct_variables) {
      NMB_TRY(clash(ConflictKind::kVariableName, found.name, Status(Code::kExists, ""),
                    placed_[*known].places.front().member));
    } else {
      NMB_TRY(unite_variable(member, local, *known, dimensions));
    }
  }
  return {};
}

Status DatasetUnion::add_variable(const Member& member, VarId local,
                                  const std::vector<DimId>& dimensions,
                                  std::vector<std::uint32_t> axes) {
  const Metadata& from = member.metadata;
  const Variable found = from.variable(local);
  const std::optional<DimId> record = all_.metadata.record_dimension();
  const auto place = record ? std::ranges::find(dimensions, *record) : dimensions.end();
  if (place != dimensions.end() && place != dimensions.begin()) {
    if (!rules_.grows_anywhere || is_tiled() || (!joined_[*record].is && all_.records == 0)) {
      conflict(ConflictKind::kVariable, found.name,
               "the unlimited dimension " + in_quotes(all_.metadata.dimension(*record).name) +
                   " as dimension " + std::to_string(place - dimensions.begin() + 1),
               "it as the first dimension", dimension_members_[*record]);
      return {};
    }
    // A fixed dimension cannot have length 0. take() sets the length of a joined dimension.
    NMB_TRY(fix_record_dimension(std::max<std::uint64_t>(all_.records, 1), true));
  }
  const Result<VarId> id = all_.metadata.def_var(found.name, found.type, dimensions);
  if (!id.ok()) return clash(ConflictKind::kVariableName, found.name, id.status(), here());
  placed_.push_back({std::move(axes), here(), type_bit(found.type), {}});
  if (const ClassicView::OwnValues* const own = member.own_of(local)) own_.emplace(*id, *own);
  const Rebase rebase = rebase_of(from, local, *id);
  if (!rebase.hint.empty())
    conflict(ConflictKind::kAttribute, object_of(*rebase.coordinate, "units"), rebase.found,
             rebase.expected + rebase.hint, first_of(*rebase.coordinate, "units"));
  if (rebase.is) report_rebased(*id, rebase);
  DatasetValues values = values_here(member, local);
  values.shift = number_of(rebase);
  add_place(*id, values);
  return from.try_each_attribute(local, [&](const Attribute& attribute) -> Status {
    if (is_dropped(local, attribute.name)) return {};
    const Status added =
        all_.metadata.def_att(*id, attribute.name, attribute.type, attribute.values);
    if (added.ok()) keep_form(member, local, *id, attribute.name);
    return added.ok()
               ? added
               : clash(ConflictKind::kAttributeName, object_of(*id, attribute.name), added, here());
  });
}

// Returns the place of a variable's values in the last dataset.
DatasetUnion::DatasetValues DatasetUnion::values_here(const Member& member, VarId local) const {
  DatasetValues values{here(), member.metadata.is_record_variable(local),
                       member.metadata.variable(local).type, member.begins[local]};
  if (const ClassicView::OwnValues* const own = member.own_of(local)) values.heap = own->heap;
  return values;
}

// Returns whether the variable can be widened. There must be a type that holds the values of all
// datasets, and the meaning of the values must be known.
bool DatasetUnion::can_widen(const Member& member, VarId local, VarId known) const {
  constexpr std::string_view kUnsigned = "_Unsigned";
  const TypeSet types = placed_[known].types | type_bit(member.metadata.variable(local).type);
  return rules_.widens && narrowest_type(types) && member.has_default_fill &&
         std::ranges::all_of(placed_[known].places,
                             [&](const DatasetValues& place) {
                               return members_[place.member].has_default_fill.has_value();
                             }) &&
         !member.metadata.find_attribute(local, kUnsigned) &&
         !all_.metadata.find_attribute(known, kUnsigned);
}

bool DatasetUnion::is_alike(const Member& member, VarId local, VarId known,
                            const std::vector<DimId>& dimensions, const Rebase& rebase) {
  const Variable found = member.metadata.variable(local), expected = all_.metadata.variable(known);
  const bool may_skip = placed_[known].axes.empty() || rules_.fills;
  const std::uint32_t first = placed_[known].places.front().member;
  const ClassicView::OwnValues* const own = member.own_of(local);
  const ClassicView::OwnValues* const known_own = own_of(known);
  if (!own != !known_own || (own && !own->has_same_type(*known_own))) {
    const std::string before = type_text(known_own, expected.type);
    std::string now = type_text(own, found.type);
    if (now == before) now += ", defined in another way";
    mismatch(may_skip, ConflictKind::kType, found.name, std::move(now), before, first);
    return false;
  }
  if (found.type != expected.type && !can_widen(member, local, known)) {
    mismatch(may_skip, ConflictKind::kType, found.name, std::string(type_name(found.type)),
             std::string(type_name(expected.type)), first);
    return false;
  }
  if (!std::ranges::equal(dimensions, expected.dimensions)) {
    const auto text = [&](std::span<const DimId> shape) {
      std::string names;
      if (own) shape = shape.first(shape.size() - 1);
      for (const DimId id : shape)
        names.append(names.empty() ? "" : ", ").append(all_.metadata.dimension(id).name);
      return "(" + names + ")";
    };
    const bool have_other_rows = rules_.along == Along::kFirstAxis && !dimensions.empty() &&
                                 dimensions.size() == expected.dimensions.size() &&
                                 dimensions.front() != expected.dimensions.front();
    mismatch(
        may_skip, ConflictKind::kShape, found.name,
        have_other_rows ? rows_text(known, dimensions.front()) : text(dimensions),
        have_other_rows ? rows_text(known, expected.dimensions.front()) : text(expected.dimensions),
        first);
    return false;
  }
  if (rebase.coordinate && !rebase.hint.empty()) {
    mismatch(may_skip, ConflictKind::kAttribute, object_of(*rebase.coordinate, "units"),
             rebase.found, rebase.expected + rebase.hint, first_of(*rebase.coordinate, "units"));
    return false;
  }
  return attributes_agree(member, local, known, may_skip, &rebase);
}

Status DatasetUnion::unite_variable(const Member& member, VarId local, VarId known,
                                    const std::vector<DimId>& dimensions) {
  const Rebase rebase = rebase_of(member.metadata, local, known);
  if (!is_alike(member, local, known, dimensions, rebase)) return {};
  const Variable found = member.metadata.variable(local);
  placed_[known].types |= type_bit(found.type);
  if (found.type != all_.metadata.variable(known).type) NMB_TRY(widen(known, found));
  if (const DatasetValues* same = place_here(known)) {
    if (!rules_.agreement.first_values)
      NMB_TRY(compare_values(member, local, known, *same));
    else
      tell(What::kShared, ConflictKind::kValues, found.name, "values that are not compared",
           "the values of the first file", same->member, here());
  } else {
    DatasetValues values = values_here(member, local);
    values.shift = number_of(rebase);
    add_place(known, values);
    if (rebase.is) report_rebased(known, rebase);
  }
  return unite_attributes(member, local, known, rebase.is);
}

// Widens the variable to a type that also holds the values of `found`, and reports this.
Status DatasetUnion::widen(VarId known, const Variable& found) {
  const Type before = all_.metadata.variable(known).type;
  const Type wide = *narrowest_type(placed_[known].types);
  tell(What::kWidened, ConflictKind::kType, found.name, std::string(type_name(found.type)),
       std::string(type_name(wide)), placed_[known].places.front().member, here());
  if (wide == before) return {};
  all_.metadata.set_type(known, wide);
  std::vector<std::pair<std::string, std::vector<std::byte>>> changed;
  all_.metadata.for_each_attribute(known, [&](const Attribute& attribute) {
    if (attribute.type == before && has_type_of_variable(attribute.name))
      changed.emplace_back(attribute.name, widened_values(attribute.values, before, wide));
  });
  for (const auto& [name, values] : changed)
    NMB_TRY(all_.metadata.put_att(known, name, wide, values));
  return {};
}

// Returns a variable's values in one dataset as an array. Sets *slice to the number of bytes that a
// record has in the united variable's type. If the variable has no records, sets *slice to the
// number of bytes in all values.
Source DatasetUnion::stored_array(VarId variable, const DatasetValues& place,
                                  std::uint64_t* slice) const {
  const Variable found = all_.metadata.variable(variable);
  const Added& member = members_[place.member];
  std::uint64_t values = 1, records = 0;
  for (std::size_t d = 0; d < found.dimensions.size(); ++d) {
    const DimId id = found.dimensions[d];
    const std::uint64_t length = joined_[id].is ? joined_[id].counts[place.member] : length_of(id);
    if (d == 0 && place.is_record)
      records = length;
    else
      values *= length;
  }
  *slice = values * type_size(found.type);
  const std::uint64_t bytes = values * type_size(place.type);
  return place.is_record && bytes > 0
             ? source_of(
                   form::Strided{member.values,
                                 {{place.begin, member.record_size, 0, bytes, bytes, records}},
                                 records * bytes})
             : run_of(member.values, place.begin, bytes);
}

// Returns the values of stored_array() as values of the united variable.
Source DatasetUnion::array_of(VarId variable, const DatasetValues& place,
                              std::uint64_t* slice) const {
  Source array = widened_array(variable, place, slice);
  if (place.shift == 0) return array;
  return source_of(form::Converted{std::move(array), rebasing(rebasing_of(variable, place))});
}

// Returns the same as array_of(), but does not rebase times. Values of variable length refer to the
// heap of the united values.
Source DatasetUnion::widened_array(VarId variable, const DatasetValues& place,
                                   std::uint64_t* slice) const {
  const Variable found = all_.metadata.variable(variable);
  Source array = stored_array(variable, place, slice);
  if (const ClassicView::OwnValues* const own = own_of(variable); own && own->has_heap())
    return source_of(form::Moved{std::move(array), own->type().size,
                                 *heap_places(own->types, own->types.last()), place.heap.offset,
                                 place.heap.length, place.new_heap});
  if (place.type == found.type) return array;
  return source_of(form::Converted{
      std::move(array),
      widening({place.type, found.type, maps_fill(all_.metadata, variable, place)})});
}

// Returns whether the union widens a variable's values in one dataset, and the default fill value
// means missing values there, although no attribute says so.
bool DatasetUnion::maps_fill(const Metadata& all, VarId variable,
                             const DatasetValues& place) const {
  const Type type = all.variable(variable).type;
  if (place.type == type || !members_[place.member].has_default_fill.value_or(false) ||
      all.find_attribute(variable, "_FillValue"))
    return false;
  const std::vector<std::byte> fill =
      widened_values(default_fill_value(place.type), place.type, type);
  for (const char* name : {"missing_value", "flag_values"}) {
    const auto attribute = all.find_attribute(variable, name);
    if (!attribute || attribute->type != type) continue;
    for (std::size_t at = 0; at < attribute->values.size(); at += fill.size())
      if (std::ranges::equal(attribute->values.subspan(at, fill.size()), fill)) return false;
  }
  return true;
}

// Returns the same values as array_of(), but without a copy if the dataset has them in this form.
// Sets *offset to the offset of the first value, and *step to the distance between records.
Source DatasetUnion::values_of(VarId variable, const DatasetValues& place, std::uint64_t* offset,
                               std::uint64_t* step) const {
  const Added& member = members_[place.member];
  *offset = place.begin;
  *step = member.record_size;
  const ClassicView::OwnValues* const own = own_of(variable);
  const bool is_moved = own && own->has_heap();
  const std::vector<std::uint32_t>& axes = placed_[variable].axes;
  // Values that are joined along the slowest dimension may lie in records.
  const bool has_steps = place.is_record && !all_.metadata.is_record_variable(variable) &&
                         (axes.empty() || axes.front() > 0);
  const bool is_same =
      place.type == all_.metadata.variable(variable).type && place.shift == 0 && !is_moved;
  if ((is_same && !has_steps) || !member.values) return member.values;
  *offset = 0;
  return array_of(variable, place, step);
}

// Returns whether the values are known to equal the values of the first dataset that has the
// variable.
bool DatasetUnion::is_known_same(const Member& member, VarId local, VarId known) const {
  if (member.same_as.empty() || member.same_as[local] == kNobody) return false;
  const Placed& placed = placed_[known];
  return placed.axes.empty() && (member.same_as[local] == placed.places.front().member ||
                                 std::ranges::binary_search(placed.same, member.same_as[local]));
}

// Compares a variable's values with the values of an earlier dataset. first: the place of these
// earlier values.
Status DatasetUnion::compare_values(const Member& member, VarId local, VarId known,
                                    const DatasetValues& first) {
  const bool is_record = all_.metadata.is_record_variable(known);
  // Differences in the number of records or in lengths are reported elsewhere.
  std::uint64_t slices = is_record ? member.records : 1;
  const Type type = member.metadata.variable(local).type;
  auto length = member.metadata.slice_bytes(local);
  auto expected_length = all_.metadata.slice_bytes(known);
  const Variable variable = all_.metadata.variable(known);
  const DatasetValues own = values_here(member, local);
  // If only one of them has records, both are compared as arrays.
  const bool are_arrays = own.is_record != is_record;
  const auto whole = [](std::optional<std::uint64_t>* bytes, std::uint64_t records) {
    if (*bytes && !checked_mul(**bytes, records, &**bytes)) bytes->reset();
  };
  if (are_arrays) {
    whole(own.is_record ? &length : &expected_length,
          own.is_record ? member.records : all_.records);
    slices = 1;
  }
  if (length) *length = *length / type_size(type) * type_size(variable.type);
  if (!length || (placed_[known].axes.empty() && length != expected_length) ||
      (is_record && !are_arrays && slices != all_.records) || is_known_same(member, local, known))
    return {};
  const ClassicView::OwnValues* const own_type = own_of(known);
  if (own_type && own_type->has_heap()) return compare_own(known, own, first, 0);
  ByteSlices theirs{}, ours{};
  const auto bytes_of = [&](const DatasetValues& place, ByteSlices* bytes) {
    if (!are_arrays || !members_[place.member].values)
      return values_of(known, place, &bytes->begin, &bytes->step);
    std::uint64_t slice = 0;
    return array_of(known, place, &slice);
  };
  const Source before = bytes_of(first, &theirs), values = bytes_of(own, &ours);
  theirs.source = before.get();
  ours.source = values.get();
  NMB_ASSIGN(const auto differs, first_difference(ours, theirs, variable.type, slices, *length));
  if (!differs) {
    if (!member.same_as.empty() && member.same_as[local] == kNobody)
      placed_[known].same.push_back(here());
    return {};
  }
  if (own_type) return compare_own(known, own, first, differs->element / own_type->type().size);
  const auto [found, expected] = difference_text(*differs, variable.type, ranges_here(known));
  mismatch(true, ConflictKind::kValues, variable.name, found, expected, first.member);
  return {};
}

// Returns the range of indexes that the last dataset has along each dimension of a variable.
std::vector<IndexRange> DatasetUnion::ranges_here(VarId known) const {
  std::vector<IndexRange> ranges;
  for (const DimId id : all_.metadata.variable(known).dimensions)
    ranges.push_back(joined_[id].is
                         ? IndexRange{joined_[id].firsts[here()], joined_[id].counts[here()]}
                         : IndexRange{0, length_of(id)});
  return ranges;
}

// Compares values of the variable's own type, from element number `from` on.
Status DatasetUnion::compare_own(VarId known, const DatasetValues& own, const DatasetValues& first,
                                 std::uint64_t from) {
  const ClassicView::OwnValues& type = own_.at(known);
  const auto values_in = [&](const DatasetValues& place) {
    std::uint64_t slice;
    return OwnArray{stored_array(known, place, &slice), members_[place.member].values, place.heap};
  };
  NMB_ASSIGN(const auto differs,
             first_difference(values_in(own), values_in(first), type.types, from));
  if (!differs) return {};
  std::vector<IndexRange> ranges = ranges_here(known);
  ranges.pop_back();
  mismatch(true, ConflictKind::kValues, all_.metadata.variable(known).name,
           differs->found + place_text(differs->element, ranges), differs->expected, first.member);
  return {};
}

// Reports variables of earlier datasets that the last dataset does not have.
void DatasetUnion::report_missing(std::uint32_t before) {
  for (VarId v = 0; v < before; ++v)
    if (placed_[v].last != here()) {
      const std::uint32_t first = placed_[v].places.front().member;
      if (rules_.fills)
        report_filled(v, first, here());
      else
        conflict(ConflictKind::kMissingVariable, all_.metadata.variable(v).name, kNoneText, "one",
                 first);
    }
}

void DatasetUnion::report_filled(VarId variable, std::uint32_t first, std::uint32_t second) {
  const bool is_constant = placed_[variable].axes.empty();
  tell(What::kFilled,
       is_constant ? ConflictKind::kConstantVariable : ConflictKind::kMissingVariable,
       all_.metadata.variable(variable).name, kNoneText,
       is_constant ? "one; it is not joined, so the values of other files are used" : "one", first,
       second);
}

// --- the united dataset ---

// Sets the lengths of joined dimensions. Returns the number of records.
Result<std::uint64_t> DatasetUnion::join_lengths() {
  std::uint64_t records = all_.records;
  for (DimId id = 0; id < joined_.size(); ++id) {
    Joined& joined = joined_[id];
    if (!joined.is || is_tiled()) continue;
    std::uint64_t all = 0;
    for (std::uint32_t m = 0; m <= members_.size(); ++m) {
      const auto gap = joined.gaps.find(m);
      const bool fits = gap == joined.gaps.end() || checked_add(all, gap->second, &all);
      const std::uint64_t count = m < members_.size() ? joined.counts[m] : 0;
      if (m < members_.size()) joined.firsts.push_back(all);
      if (!fits || !checked_add(all, count, &all) || all >= kUnlimited)
        return Status(Code::kLimit, "the joined length of a dimension is too large (about 2^64)");
    }
    if (all_.metadata.record_dimension() == id)
      records = all;
    else
      all_.metadata.set_length(id, all);
  }
  return records;
}

void DatasetUnion::lay(VarId variable, LaidValues* values) const {
  const Placed& placed = placed_[variable];
  if (placed.axes.empty()) {
    std::uint64_t offset, step;
    Source source = values_of(variable, placed.places.front(), &offset, &step);
    values->add(all_.metadata, variable, std::move(source), offset, step);
  } else if (is_tiled()) {
    values->add(all_.metadata, variable,
                source_of(tiled_values(variable, placed.places.size(), false, placed.has_gaps)), 0,
                all_.metadata.slice_bytes(variable).value_or(0));
  } else {
    lay_joined(variable, values);
  }
}

// Calls visit(count, member, place) for each part along a joined dimension, in order. count: length
// of the part. member: number of the dataset, or nullopt for a gap. place: the place of the
// dataset's values, or nullptr if the dataset has no values.
template <class Visit>
void DatasetUnion::for_each_part(const Joined& joined, const Placed& placed, Visit visit) const {
  auto place = placed.places.begin();
  for (std::uint32_t m = 0; m <= members_.size(); ++m) {
    if (const auto gap = joined.gaps.find(m); gap != joined.gaps.end())
      visit(gap->second, std::nullopt, nullptr);
    if (m == members_.size()) return;
    const bool has_values = place != placed.places.end() && place->member == m;
    visit(joined.counts[m], m, has_values ? &*place++ : nullptr);
  }
}

void DatasetUnion::lay_joined(VarId variable, LaidValues* values) const {
  const Placed& placed = placed_[variable];
  const std::uint32_t axis = placed.axes.front();
  const Variable found = all_.metadata.variable(variable);
  std::uint64_t unit = type_size(found.type);
  for (const DimId id : found.dimensions.subspan(axis + 1))
    unit *= all_.metadata.dimension(id).length;
  std::vector<LaidPart> parts;
  const auto made = columns_.find(variable);
  std::uint64_t end = 0;
  const auto add = [&](std::uint64_t count, std::optional<std::uint32_t> member,
                       const DatasetValues* place) {
    LaidPart part{nullptr, end, count, 0, unit, unit * count, 0};
    if (member && made != columns_.end()) {
      part.source = made->second[*member];
    } else if (place) {
      std::uint64_t step;
      part.source = values_of(variable, *place, &part.offset, &step);
      if (place->is_record) (axis == 0 ? part.step : part.record_step) = step;
    } else {
      part.source = fill_of(variable);
    }
    parts.push_back(std::move(part));
    end += count;
  };
  for_each_part(joined_[found.dimensions[axis]], placed, add);
  values->add(all_.metadata, variable, std::move(parts), axis);
}

std::vector<std::string> DatasetUnion::joined_names() const {
  std::vector<std::string> names;
  for (const DimId id : joined()) names.emplace_back(all_.metadata.dimension(id).name);
  return names;
}

std::optional<std::uint64_t> DatasetUnion::joined_count(std::string_view dimension,
                                                        std::uint32_t member) const {
  const std::optional<DimId> id = all_.metadata.find_dimension(dimension);
  if (!id || !joined_[*id].is) return std::nullopt;
  return joined_[*id].counts[member];
}

bool DatasetUnion::has_variable_along(std::string_view dimension, std::uint32_t member) const {
  for (VarId v = 0; v < placed_.size(); ++v) {
    const Placed& placed = placed_[v];
    if (placed.axes.empty()) continue;
    const DimId along = all_.metadata.variable(v).dimensions[placed.axes.front()];
    if (all_.metadata.dimension(along).name == dimension &&
        std::ranges::binary_search(placed.places, member, {}, &DatasetValues::member))
      return true;
  }
  return false;
}

void DatasetUnion::set_joined_count(std::string_view dimension, std::uint32_t member,
                                    std::uint64_t count) {
  joined_[*all_.metadata.find_dimension(dimension)].counts[member] = count;
}

void DatasetUnion::add_gap(std::string_view dimension, std::uint32_t before, std::uint64_t count) {
  if (count > 0) joined_[*all_.metadata.find_dimension(dimension)].gaps[before] += count;
}

std::optional<VarId> DatasetUnion::joined_column(std::string_view name) const {
  const auto id = all_.metadata.find_variable(name);
  if (!id || is_tiled() || own_.contains(*id) || placed_[*id].axes != std::vector<std::uint32_t>{0})
    return std::nullopt;
  for (const DimId d : all_.metadata.variable(*id).dimensions.subspan(1))
    if (length_of(d) != 1) return std::nullopt;
  return id;
}

Source DatasetUnion::column(VarId variable, std::uint32_t member, std::uint64_t* count) const {
  *count = joined_[all_.metadata.variable(variable).dimensions.front()].counts[member];
  const auto& places = placed_[variable].places;
  const auto place = std::ranges::lower_bound(places, member, {}, &DatasetValues::member);
  if (place == places.end() || place->member != member || !members_[member].values) return nullptr;
  std::uint64_t slice;
  return array_of(variable, *place, &slice);
}

Status DatasetUnion::add_column(const std::string& name, VarId like, std::vector<Source> values) {
  const auto dimensions = all_.metadata.variable(like).dimensions;
  const Result<VarId> id = all_.metadata.def_var(
      name, Type::kInt64, std::vector<DimId>(dimensions.begin(), dimensions.end()));
  if (!id.ok()) {
    const auto known = all_.metadata.find_variable(name);
    return clash(ConflictKind::kVariableName, name, id.status(),
                 known ? placed_[*known].places.front().member : here());
  }
  placed_.push_back({{0}, here(), type_bit(Type::kInt64), {}});
  columns_.emplace(*id, std::move(values));
  return {};
}

std::vector<JoinedCoordinate> DatasetUnion::coordinates() const {
  std::vector<JoinedCoordinate> all;
  for (const DimId along : joined()) {
    const auto id = coordinate_of(all_.metadata, along);
    if (!id || columns_.contains(*id)) continue;
    const Variable variable = all_.metadata.variable(*id);
    JoinedCoordinate& coordinate =
        all.emplace_back(JoinedCoordinate{along, std::string(variable.name), variable.type, {}});
    for_each_part(
        joined_[along], placed_[*id],
        [&](std::uint64_t count, std::optional<std::uint32_t>, const DatasetValues* place) {
          std::uint64_t slice;
          if (count > 0)
            coordinate.parts.push_back(
                {place ? array_of(*id, *place, &slice) : fill_of(*id), count});
        });
  }
  return all;
}

Status DatasetUnion::add_history(const std::string& line) {
  constexpr std::string_view kHistory = "history";
  std::string text = line;
  if (const auto before = all_.metadata.find_attribute(kGlobal, kHistory)) {
    if (before->type != Type::kChar) return {};
    text.append("\n").append(reinterpret_cast<const char*>(before->values.data()),
                             before->values.size());
  }
  return all_.metadata.put_att(kGlobal, kHistory, Type::kChar, std::as_bytes(std::span(text)));
}

Result<Dataset> DatasetUnion::take(const std::string& name) {
  NMB_ASSIGN(all_.records, join_lengths());
  NMB_ASSIGN(all_.layout, layout_classic(all_.metadata, Kind::kCdf5));
  all_.layout.records = all_.records;
  std::uint64_t bytes = 0;
  if (!checked_mul(all_.records, all_.layout.record_size, &bytes) ||
      !checked_add(bytes, all_.layout.record_begin, &bytes))
    return Status(Code::kLimit, "all groups together have more than 2^64 bytes of values");
  auto values = std::make_shared<LaidValues>(laid_values(all_.layout, all_.records, name));
  are_classic_model_ = are_classic_model_ && has_classic_definitions();
  place_heaps();
  for (VarId v = 0; v < placed_.size(); ++v) lay(v, values.get());
  all_.extent = with_heaps(source_of(std::move(values)));
  return std::move(all_);
}

// Returns the _FillValue of a variable if it has the variable's own type.
std::optional<OwnAttributeValues> DatasetUnion::fill_attribute(VarId variable) const {
  const auto attribute = all_.metadata.find_attribute(variable, kFillValue);
  if (!attribute || !is_own(variable, kFillValue)) return std::nullopt;
  Result<OwnAttributeValues> decoded = decode_own(attribute->values);
  constexpr auto kDropped = TypeTable::Names::kDropped;
  const TypeTable& types = own_.at(variable).types;
  if (!decoded.ok() || decoded->count != 1 ||
      decoded->types.only(decoded->types.last(), kDropped) != types.only(types.last(), kDropped))
    return std::nullopt;
  return *std::move(decoded);
}

// Returns the value that a variable of its own type has where no dataset has values. After
// place_heaps(), it refers to the heap of the united values.
std::vector<std::byte> DatasetUnion::own_fill_of(VarId variable) const {
  const ClassicView::OwnValues& own = own_.at(variable);
  const std::uint64_t size = own.type().size;
  const auto stated = fill_attribute(variable);
  // A null value has no elements.
  if (!stated) return own.has_heap() ? std::vector<std::byte>(size) : own.fill;
  std::vector<std::byte> fill(stated->values.begin(),
                              stated->values.begin() + static_cast<std::ptrdiff_t>(size));
  const auto places = heap_places(own.types, own.types.last());
  for (const HeapPlace& place : *places)
    if (const auto value = HeapValue::load(fill.data() + place.offset); !value.is_null())
      store_le(fill.data() + place.offset + 8, own.heap.offset + (value.offset - size));
  return fill;
}

// Decides where the united values have the bytes to which values of variable length refer: after
// the array, first those of the fill value, then those of each dataset.
void DatasetUnion::place_heaps() {
  for (auto& [variable, own] : own_) {
    if (!own.has_heap()) continue;
    std::uint64_t end = 1;
    for (const DimId id : all_.metadata.variable(variable).dimensions)
      end *= all_.metadata.record_dimension() == id ? all_.records : length_of(id);
    own.heap.offset = end;
    if (const auto fill = fill_attribute(variable)) end += fill->values.size() - own.type().size;
    for (DatasetValues& place : placed_[variable].places) {
      place.new_heap = end;
      end += place.heap.length;
    }
    own.heap.length = end - own.heap.offset;
  }
}

// Appends the heaps to the values of all variables.
Source DatasetUnion::with_heaps(Source laid) {
  const std::uint64_t size = laid->size();
  form::Spliced all{{laid}, {{0, size, 0, 0}}, size, laid->name()};
  const auto add = [&](Source source, std::uint64_t from, std::uint64_t length) {
    if (length == 0) return;
    all.runs.push_back({all.bytes, length, from, static_cast<std::uint32_t>(all.sources.size())});
    all.sources.push_back(std::move(source));
    all.bytes += length;
  };
  for (auto& [variable, own] : own_) {
    if (!own.has_heap()) continue;
    own.heap.begin = all.bytes;
    if (const auto fill = fill_attribute(variable)) {
      const auto first = fill->values.begin() + static_cast<std::ptrdiff_t>(own.type().size);
      std::vector<std::byte> heap(first, fill->values.end());
      const std::uint64_t length = heap.size();
      add(owned_bytes(std::move(heap), "fill values"), 0, length);
    }
    for (const DatasetValues& place : placed_[variable].places)
      add(members_[place.member].values, place.heap.begin, place.heap.length);
  }
  return all.sources.size() == 1 ? laid : source_of(std::move(all));
}

std::vector<DatasetUnion::Box> DatasetUnion::boxes(const Dataset& all, VarId variable) const {
  const Placed& placed = placed_[variable];
  std::vector<Box> found;
  if (columns_.contains(variable)) return found;
  const std::span<const DimId> ids = all.metadata.variable(variable).dimensions;
  Box whole;
  whole.first.resize(ids.size());
  for (const DimId id : ids) {
    const Dimension dimension = all.metadata.dimension(id);
    whole.count.push_back(dimension.is_record() ? all.records : dimension.length);
  }
  const auto add = [&](const DatasetValues& place) -> Box& {
    Box& box = found.emplace_back(whole);
    box.member = place.member;
    box.type = place.type;
    box.maps_fill = maps_fill(all.metadata, variable, place);
    box.is_rebased = place.shift != 0;
    return box;
  };
  if (placed.axes.empty()) {
    add(placed.places.front());
  } else if (is_tiled()) {
    const TileBoxes& boxes = *tilings_.at({ids.begin(), ids.end()}).boxes;
    for (const DatasetValues& place : placed.places) {
      Box& box = add(place);
      box.first.assign(boxes.firsts(place.box), boxes.firsts(place.box) + ids.size());
      box.count.assign(boxes.counts(place.box), boxes.counts(place.box) + ids.size());
    }
  } else {
    const std::uint32_t axis = placed.axes.front();
    std::uint64_t end = 0;
    for_each_part(
        joined_[ids[axis]], placed,
        [&](std::uint64_t count, std::optional<std::uint32_t>, const DatasetValues* place) {
          if (place && count > 0) {
            Box& box = add(*place);
            box.first[axis] = end;
            box.count[axis] = count;
          }
          end += count;
        });
  }
  return found;
}

std::vector<Source> DatasetUnion::values() const {
  std::vector<Source> values;
  for (const Added& member : members_) values.push_back(member.values);
  return values;
}

std::vector<DimId> DatasetUnion::joined() const {
  std::vector<DimId> ids;
  for (DimId id = 0; id < joined_.size(); ++id)
    if (joined_[id].is) ids.push_back(id);
  return ids;
}

std::uint32_t DatasetUnion::member_at(DimId dimension, std::uint64_t index) const {
  const std::vector<std::uint64_t>& firsts = joined_[dimension].firsts;
  return static_cast<std::uint32_t>(std::ranges::upper_bound(firsts, index) - firsts.begin() - 1);
}

}  // namespace nmb
