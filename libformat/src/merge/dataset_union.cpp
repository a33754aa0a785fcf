// Uniting datasets (see merge/dataset_union.h).
#include "merge/dataset_union.h"

#include <algorithm>
#include <utility>

#include "block/name_rules.h"
#include "convert/laid_values.h"
#include "wire/checked.h"

namespace nmb {

std::string DatasetUnion::group_text(std::size_t group) const { return "/" + groups_[group]; }

Status DatasetUnion::add(const std::string& group, const Dataset& dataset,
                         std::shared_ptr<const ByteSource> values) {
  groups_.push_back(group);
  values_.push_back(std::move(values));
  std::vector<std::optional<DimId>> ids;
  NMB_TRY(add_dimensions(dataset, &ids));
  NMB_TRY(add_attributes(dataset));
  return add_variables(dataset, ids);
}

Status DatasetUnion::clash(const char* kind, std::string_view name, const Status& status,
                           std::uint32_t first) {
  if (status.code() == Code::kExists)
    conflict_(kind, name, "one in group " + group_text(here()) + " and one in " + group_text(first),
              "one of this name");
  else if (status.code() == Code::kUsage)
    conflict_(kind, name, "a name in group " + group_text(here()) + " that is not legal",
              "a legal one");
  else
    return status;
  return {};
}

Status DatasetUnion::add_dimensions(const Dataset& dataset,
                                    std::vector<std::optional<DimId>>* ids) {
  for (DimId local = 0; local < dataset.metadata.dimension_count(); ++local) {
    const Dimension found = dataset.metadata.dimension(local);
    std::optional<DimId> id = all_.metadata.find_dimension(found.name);
    if (id) {
      compare_dimensions(found, dataset.records, *id);
    } else if (const auto record = all_.metadata.record_dimension(); found.is_record() && record) {
      conflict_("dimension name", found.name,
                "it as record dimension of group " + group_text(here()) + ", beside " +
                    quoted(all_.metadata.dimension(*record).name) + " of " +
                    group_text(dimension_groups_[*record]),
                "one record dimension");
    } else {
      const Result<DimId> added = all_.metadata.add_dimension(found.name, found.length);
      if (!added.ok()) {
        NMB_TRY(clash("dimension name", found.name, added.status(), 0));
      } else {
        id = *added;
        dimension_groups_.push_back(here());
        if (found.is_record()) all_.records = dataset.records;
      }
    }
    ids->push_back(id);
  }
  return {};
}

void DatasetUnion::compare_dimensions(const Dimension& found, std::uint64_t records, DimId known) {
  const Dimension expected = all_.metadata.dimension(known);
  if (found.length == expected.length && (!found.is_record() || records == all_.records)) return;
  const auto text = [](const Dimension& dimension, std::uint64_t count) {
    return dimension.is_record() ? std::to_string(count) + " records"
                                 : "length " + std::to_string(dimension.length);
  };
  conflict_("dimension", found.name, text(found, records) + " in group " + group_text(here()),
            text(expected, all_.records) + " as in " + group_text(dimension_groups_[known]));
}

Status DatasetUnion::add_attributes(const Dataset& dataset) {
  Status status;
  dataset.metadata.for_each_attribute(kGlobal, [&](const Attribute& found) {
    if (!status.ok()) return;
    const std::string object = "@" + std::string(found.name);
    const auto known = all_.metadata.find_attribute(kGlobal, found.name);
    if (!known) {
      status = all_.metadata.add_attribute(kGlobal, found.name, found.type, found.values);
      if (status.ok())
        attribute_groups_.emplace(found.name, here());
      else
        status = clash("attribute name", object, status, 0);
    } else if (known->type != found.type || !std::ranges::equal(known->values, found.values)) {
      conflict_("attributes", object,
                "one value in group " + group_text(here()) + " and another in " +
                    group_text(attribute_groups_[std::string(found.name)]),
                "equal ones");
    }
  });
  return status;
}

Status DatasetUnion::add_variables(const Dataset& dataset,
                                   const std::vector<std::optional<DimId>>& ids) {
  const Metadata& from = dataset.metadata;
  std::vector<DimId> dimensions;
  for (VarId local = 0; local < from.variable_count(); ++local) {
    const Variable found = from.variable(local);
    if (const auto known = all_.metadata.find_variable(found.name)) {
      NMB_TRY(clash("variable name", found.name, Status(Code::kExists, ""), places_[*known].group));
      continue;
    }
    dimensions.clear();
    for (const DimId id : found.dimensions)
      if (ids[id]) dimensions.push_back(*ids[id]);
    // What a dimension is left out of was told.
    if (dimensions.size() < found.dimensions.size()) continue;
    const Result<VarId> id = all_.metadata.add_variable(found.name, found.type, dimensions);
    if (!id.ok()) {
      NMB_TRY(clash("variable name", found.name, id.status(), 0));
      continue;
    }
    places_.push_back(
        {here(), found.begin - dataset.layout.header_length, dataset.layout.record_size});
    Status status;
    from.for_each_attribute(local, [&](const Attribute& attribute) {
      if (!status.ok()) return;
      status = all_.metadata.add_attribute(*id, attribute.name, attribute.type, attribute.values);
      if (!status.ok())
        status = clash("attribute name",
                       std::string(found.name) + "@" + std::string(attribute.name), status, 0);
    });
    NMB_TRY(status);
  }
  return {};
}

Result<Dataset> DatasetUnion::take(const std::string& name) {
  NMB_ASSIGN(all_.layout, layout_classic(all_.metadata, Kind::kCdf5));
  all_.layout.records = all_.records;
  std::uint64_t bytes = 0;
  if (!checked_mul(all_.records, all_.layout.record_size, &bytes) ||
      !checked_add(bytes, all_.layout.record_begin, &bytes))
    return Status(Code::kLimit, "found more than 2^64 bytes of values in all groups together");
  auto values = std::make_shared<LaidValues>(all_.layout, all_.records, name);
  for (VarId v = 0; v < places_.size(); ++v)
    values->add(all_.metadata, v, values_[places_[v].group], places_[v].begin,
                places_[v].record_size);
  all_.extent = std::move(values);
  return std::move(all_);
}

}  // namespace nmb
