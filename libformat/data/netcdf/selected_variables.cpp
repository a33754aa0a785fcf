#include "netcdf/selected_variables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "model/extension.h"
#include "model/heap_value.h"
#include "model/name_rules.h"
#include "model/naming_attributes.h"

namespace nmb {

namespace {

// Visits the variables that an attribute names.
template <class Visit>
void for_each_named(const Metadata& metadata, VarId owner, std::string_view attribute,
                    const Visit& visit) {
  for_each_word(attribute, char_attribute(metadata, owner, attribute), [&](std::string_view word) {
    if (const auto found = metadata.find_variable(word)) visit(*found);
  });
}

// Returns the parts of an extension that belong to these variables. dimensions: the new number of
// each dimension, or nullopt if it is left out.
Result<std::shared_ptr<const Extension>> selected_extension(
    const Extension& from, std::span<const VarId> variables,
    const std::vector<std::optional<DimId>>& dimensions) {
  const auto number = [&](VarId v) -> std::optional<VarId> {
    const auto found = std::ranges::lower_bound(variables, v);
    if (found == variables.end() || *found != v) return std::nullopt;
    return static_cast<VarId>(found - variables.begin());
  };
  auto out = std::make_shared<Extension>();
  out->types = from.types;
  for (const Unlimited& one : from.unlimited)
    if (dimensions[one.dimension])
      out->unlimited.push_back({*dimensions[one.dimension], one.is_record});
  for (const Storage& one : from.storage)
    if (const auto v = number(one.variable)) {
      out->storage.push_back(one);
      out->storage.back().variable = *v;
    }
  NMB_ASSIGN(std::vector<hdf5::Property> properties, hdf5::decode_properties(from.hdf5));
  for (hdf5::Property& p : properties) {
    if (p.owner != kGlobal) {
      const auto v = number(p.owner);
      if (!v) continue;
      p.owner = *v;
    }
    std::erase_if(p.dimensions_above,
                  [&](const hdf5::DimensionAbove& above) { return !dimensions[above.dimension]; });
    for (hdf5::DimensionAbove& above : p.dimensions_above)
      above.dimension = *dimensions[above.dimension];
    hdf5::append_property(p, &out->hdf5);
  }
  return std::shared_ptr<const Extension>(std::move(out));
}

// Returns a value in external form as a number.
double number_of(Type type, std::span<const std::byte> value) {
  double out = 0;
  (void)convert_from_external(type, value.data(), 1, MemoryType::kDouble, &out);
  return out;
}

// Returns the values of an attribute; empty if it does not exist. Errors (with a message only):
// kUnsupported if the values are not numbers.
Result<std::vector<double>> number_attribute(const Metadata& metadata, VarId owner,
                                             std::string_view name) {
  std::vector<double> out;
  const std::optional<Attribute> found = metadata.find_attribute(owner, name);
  if (!found) return out;
  if (found->type == Type::kChar || TypeTable::is_extended(found->type))
    return Status(Code::kUnsupported, "attribute " + std::string(name) + " of \"" +
                                          std::string(metadata.variable(owner).name) +
                                          "\" is not a number");
  const std::size_t size = type_size(found->type);
  for (std::size_t i = 0; i < found->count; ++i)
    out.push_back(number_of(found->type, found->values.subspan(i * size, size)));
  return out;
}

}  // namespace

std::string char_attribute(const Metadata& metadata, VarId owner, std::string_view name) {
  const std::optional<Attribute> found = metadata.find_attribute(owner, name);
  if (!found || found->type != Type::kChar) return {};
  std::string text(reinterpret_cast<const char*>(found->values.data()), found->values.size());
  while (text.ends_with('\0')) text.pop_back();
  return text;
}

std::string string_attribute(const TypeTable& types, const Attribute& attribute) {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  if (attribute.type == Type::kChar) return text(attribute.values);
  if (!TypeTable::is_extended(attribute.type)) return {};
  const ExtendedType& type = types.at(attribute.type);
  if (type.type_class != TypeClass::kString) return {};
  if (!type.variable_length) return text(attribute.values);
  std::string all;
  std::uint64_t left = attribute.values.size();
  for (std::uint64_t i = 0; i < attribute.count; ++i) {
    const HeapValue value = HeapValue::load(attribute.values.data() + i * TypeTable::kHeapValue);
    if (value.is_null()) continue;
    const auto one = value.read(MemorySource(attribute.values), 1, &left);
    if (!one.ok()) continue;
    if (!all.empty()) all += ' ';
    all += text(*one);
  }
  return all;
}

Result<VarId> time_coordinate(const Dataset& dataset) {
  const Metadata& metadata = dataset.metadata;
  const std::optional<DimId> record = metadata.record_dimension();
  if (!record) return Status(Code::kNotFound, "there is no record dimension");
  const std::string name(metadata.dimension(*record).name);
  const std::optional<VarId> time = metadata.find_variable(name);
  if (!time || metadata.variable(*time).dimensions.size() != 1 ||
      !metadata.is_record_variable(*time))
    return Status(Code::kNotFound, "dimension \"" + name + "\" has no coordinate");
  return *time;
}

Result<std::vector<double>> time_values(const Dataset& dataset, VarId time) {
  NMB_ASSIGN(const VariableShape shape, dataset.shape(time));
  Hyperslab all;
  all.start.assign(shape.lengths.size(), 0);
  all.count = shape.lengths;
  NMB_ASSIGN(std::vector<double> values, coordinate_values(dataset, time, all));
  const auto missing = std::ranges::find_if(values, [](double v) { return std::isnan(v); });
  if (missing != values.end())
    return Status(Code::kUnsupported, "the time is missing at index " +
                                          std::to_string(missing - values.begin()) +
                                          "; it has no date");
  return values;
}

Result<std::vector<double>> coordinate_values(const Dataset& dataset, VarId coordinate,
                                              const Hyperslab& slab) {
  const Metadata& metadata = dataset.metadata;
  const Type type = metadata.variable(coordinate).type;
  const std::string name = in_quotes(metadata.variable(coordinate).name);
  if (type == Type::kChar)
    return Status(Code::kUnsupported, "the values of coordinate " + name + " are not numbers");
  if (metadata.find_attribute(coordinate, "_Unsigned"))
    return Status(Code::kUnsupported,
                  "attribute _Unsigned of coordinate " + name + " is not supported");
  NMB_ASSIGN(const std::vector<double> scales,
             number_attribute(metadata, coordinate, "scale_factor"));
  NMB_ASSIGN(const std::vector<double> offsets,
             number_attribute(metadata, coordinate, "add_offset"));
  if (scales.size() > 1 || offsets.size() > 1)
    return Status(Code::kUnsupported, "scale_factor or add_offset of coordinate " + name +
                                          " has several values; expected one");
  NMB_ASSIGN(std::vector<double> missing, number_attribute(metadata, coordinate, "_FillValue"));
  NMB_ASSIGN(const std::vector<double> others,
             number_attribute(metadata, coordinate, "missing_value"));
  // As in statistics, all values of one-byte types are valid by default.
  if (missing.empty() && type_size(type) > 1)
    missing.push_back(number_of(type, default_fill_value(type)));
  missing.insert(missing.end(), others.begin(), others.end());
  std::vector<double> values(element_count(slab));
  NMB_TRY(dataset.read(coordinate, slab, values));
  for (double& value : values) {
    if (std::ranges::find(missing, value) != missing.end())
      value = std::numeric_limits<double>::quiet_NaN();
    if (!scales.empty()) value *= scales.front();
    if (!offsets.empty()) value += offsets.front();
  }
  return values;
}

std::vector<std::vector<VarId>> needed_variables(const Metadata& metadata) {
  std::vector<std::vector<VarId>> needed(metadata.variable_count());
  for (VarId v = 0; v < needed.size(); ++v) {
    for (const NamingAttribute& one : kNamingAttributes)
      for_each_named(metadata, v, one.name, [&](VarId named) { needed[v].push_back(named); });
    for (const DimId d : metadata.variable(v).dimensions)
      if (const auto coordinate = metadata.find_variable(metadata.dimension(d).name))
        needed[v].push_back(*coordinate);
  }
  return needed;
}

Result<std::vector<SeriesVariables>> series_variables(const Dataset& dataset) {
  const Metadata& metadata = dataset.metadata;
  const VarId count = metadata.variable_count();
  const std::vector<std::vector<VarId>> names = needed_variables(metadata);
  std::vector<bool> is_support(count);
  for (VarId v = 0; v < count; ++v) {
    for (const NamingAttribute& one : kNamingAttributes)
      for_each_named(metadata, v, one.name, [&](VarId named) {
        if (named != v && (one.is_support || !metadata.is_record_variable(named)))
          is_support[named] = true;
      });
    for (const DimId d : metadata.variable(v).dimensions)
      if (const auto coordinate = metadata.find_variable(metadata.dimension(d).name))
        is_support[*coordinate] = true;
  }
  std::vector<SeriesVariables> out;
  std::vector<bool> is_taken(count);
  for (VarId v = 0; v < count; ++v) {
    if (is_support[v]) continue;
    SeriesVariables one{v, {v}};
    is_taken.assign(count, false);
    is_taken[v] = true;
    for (std::size_t i = 0; i < one.all.size(); ++i)
      for (const VarId named : names[one.all[i]]) {
        if (is_taken[named]) continue;
        is_taken[named] = true;
        one.all.push_back(named);
      }
    std::ranges::sort(one.all);
    out.push_back(std::move(one));
  }
  return out;
}

Result<Dataset> selected_variables(const Dataset& dataset, std::span<const VarId> variables) {
  const Metadata& from = dataset.metadata;
  const Extension* const extension = from.extension().get();
  Dataset out = dataset;
  out.metadata = Metadata(Metadata::Names::kAsFound);
  std::vector<std::optional<DimId>> dimensions(from.dimension_count());
  std::vector<bool> is_used(from.dimension_count());
  for (const VarId v : variables)
    for (const DimId d : from.variable(v).dimensions) is_used[d] = true;
  for (DimId d = 0; d < from.dimension_count(); ++d) {
    if (!is_used[d]) continue;
    const Dimension dimension = from.dimension(d);
    NMB_ASSIGN(dimensions[d], out.metadata.def_dim(dimension.name, dimension.length));
  }
  if (extension) {
    NMB_ASSIGN(auto selected, selected_extension(*extension, variables, dimensions));
    out.metadata.set_extension(std::move(selected));
  }
  const auto copy_attributes = [&](VarId owner, VarId to) {
    return from.try_each_attribute(owner, [&](const Attribute& attribute) {
      return TypeTable::is_extended(attribute.type)
                 ? out.metadata.def_extended_att(to, attribute.name, attribute.type,
                                                 attribute.count, attribute.values)
                 : out.metadata.def_att(to, attribute.name, attribute.type, attribute.values);
    });
  };
  NMB_TRY(copy_attributes(kGlobal, kGlobal));
  for (const VarId v : variables) {
    const Variable variable = from.variable(v);
    std::vector<DimId> own;
    for (const DimId d : variable.dimensions) own.push_back(*dimensions[d]);
    NMB_ASSIGN(const VarId added, out.metadata.def_var(variable.name, variable.type, own));
    out.metadata.set_begin(added, variable.begin);
    NMB_TRY(copy_attributes(v, added));
  }
  NMB_TRY(out.metadata.settle_names());
  if (!out.metadata.record_dimension()) out.records = out.layout.records = 0;
  out.remarks.clear();
  return out;
}

}  // namespace nmb
