#include "compare/dataset_content.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hdf5_types/netcdf_marks.h"
#include "hdf5_types/type_header.h"
#include "model/heap_value.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Property;
using Number = Property::Number;

const TypeTable* own_types(const Metadata& metadata) {
  return metadata.extension() ? &metadata.extension()->types : nullptr;
}

constexpr std::string_view kind_text(hdf5::LinkKind kind) {
  switch (kind) {
    case hdf5::LinkKind::kSoft:
      return "soft";
    case hdf5::LinkKind::kExternal:
      return "external";
    case hdf5::LinkKind::kHard:
      return "hard";
    case hdf5::LinkKind::kUserDefined:
      return "user-defined";
    case hdf5::LinkKind::kVariable:
    case hdf5::LinkKind::kGroup:
    case hdf5::LinkKind::kType:
      break;
  }
  return "";
}

// Sort key of a property's owner. The group comes first: kGlobal + 1 is 0.
std::uint32_t owner_order(const Property& property) { return property.owner + 1; }

// Returns the part of a path before its last '/', without the first '/'.
std::string_view group_of(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

}  // namespace

DatasetContent::DatasetContent(std::string name, std::shared_ptr<const Dataset> dataset,
                               NetcdfView view, PathMove move)
    : name_(std::move(name)),
      dataset_(std::move(dataset)),
      move_(std::move(move)),
      view_(std::move(view)),
      types_(own_types(dataset_->metadata), view_.is_netcdf ? AfterNul::kCounts : AfterNul::kIsZero,
             move_),
      texts_(own_types(dataset_->metadata)) {}

Result<DatasetContent> DatasetContent::of(std::string name, std::shared_ptr<const Dataset> dataset,
                                          const DimensionLengths& lengths, const PathMove& move,
                                          const std::optional<PlannedHdf5>& planned) {
  // Names that netCDF makes up are not content, so their numbers do not matter.
  NetcdfView view = netcdf_view(*dataset, &lengths, 0);
  DatasetContent content(std::move(name), std::move(dataset), std::move(view), move);
  if (is_classic_dataset(content.dataset_->metadata)) content.planned_ = planned;
  if (const auto& extension = content.dataset_->metadata.extension()) {
    NMB_ASSIGN(content.properties_, hdf5::decode_properties(extension->hdf5));
  }
  content.add_dimensions();
  content.add_links();
  content.variables_.resize(content.view_.variables.size());
  std::iota(content.variables_.begin(), content.variables_.end(), 0);
  std::ranges::stable_sort(content.variables_, {}, [&](std::size_t i) {
    return std::string_view(content.view_.variables[i].name);
  });
  return content;
}

Status DatasetContent::of_variable(const Status& status, std::size_t number) const {
  return in_file(status.of_object("variable " + in_quotes(variable_name(number))));
}

bool DatasetContent::is_netcdf() const {
  return view_.is_netcdf || is_classic_dataset(dataset_->metadata);
}

void DatasetContent::add_dimensions() {
  const Metadata& metadata = dataset_->metadata;
  const std::vector<std::uint32_t> levels = levels_above(metadata);
  for (const NetcdfView::Dimension& dimension : view_.dimensions) {
    AxisContent axis;
    axis.is_unlimited = dimension.may_grow;
    const std::optional<DimId> id = metadata.find_dimension(dimension.name);
    const std::uint32_t level = levels.empty() || !id ? 0 : levels[*id];
    const bool is_dropped =
        planned_ && planned_->drops_made_up && level == 0 && is_made_up(dimension.name);
    if (!dimension.is_made_up && !is_dropped) {
      axis.dimension = dimension.name;
      axis.length = dimension.length;
      const std::string& group = dataset_->name;  // the path of the group in its file
      if (!dimension.path.empty() && group_of(dimension.path) != group) {
        axis.level = levels_between(group, dimension.path);
        if (axis.level == 0) {
          axis.level = AxisContent::kElsewhere;
          axis.dimension = move_.moved(dimension.path);
        }
      } else {
        axis.level = level;
      }
      if (axis.level == 0)
        dimensions_.push_back({dimension.name, dimension.length, dimension.may_grow});
    }
    named_axes_.push_back(std::move(axis));
  }
  std::ranges::stable_sort(dimensions_, {}, &DimensionContent::name);
}

void DatasetContent::add_links() {
  if (const Property* links = property(kGlobal, Number::kLinks))
    for (const hdf5::Link& link : links->links)
      if (!kind_text(link.kind).empty()) {
        const bool is_in_file =
            link.kind == hdf5::LinkKind::kHard || link.kind == hdf5::LinkKind::kSoft;
        links_.push_back({link.name, kind_text(link.kind), link.number,
                          is_in_file ? move_.moved(link.content) : link.content});
      }
  std::ranges::stable_sort(links_, {}, &LinkContent::name);
}

std::span<const Property> DatasetContent::properties_of(VarId owner) const {
  const auto first = std::ranges::lower_bound(properties_, owner + 1, {}, owner_order);
  const auto last = std::ranges::upper_bound(properties_, owner + 1, {}, owner_order);
  return {first, last};
}

const Property* DatasetContent::property(VarId owner, Number number,
                                         std::uint32_t attribute) const {
  const hdf5::PropertyPlace wanted(owner + 1, attribute + 1, number);
  const auto found = std::ranges::lower_bound(properties_, wanted, {}, hdf5::place_of);
  return found != properties_.end() && hdf5::place_of(*found) == wanted ? &*found : nullptr;
}

std::string DatasetContent::comment_of(VarId owner) const {
  const Property* const comment = property(owner, Number::kComment);
  if (!comment) return {};
  return {reinterpret_cast<const char*>(comment->bytes.data()), comment->bytes.size()};
}

Result<std::vector<TypeContent>> DatasetContent::named_types() {
  std::vector<TypeContent> named;
  if (planned_) NMB_TRY(add_planned_types(&named));
  const Property* const links = property(kGlobal, Number::kLinks);
  if (!links) return named;
  for (const hdf5::Link& link : links->links) {
    if (link.kind != hdf5::LinkKind::kType) continue;
    const auto code = static_cast<Type>(link.number);
    if (link.number > std::numeric_limits<std::uint16_t>::max() || !types_.table()->has(code))
      return failure(Code::kDamaged, "found a link to type ", link.number,
                     ", which does not exist");
    TypeContent& type = named.emplace_back();
    type.name = link.name;
    NMB_ASSIGN(type.type, texts_.of(code));
    for (const Property& p : properties_of(kGlobal)) {
      if (p.number == Number::kTypeComment && p.type == code)
        type.comment.assign(reinterpret_cast<const char*>(p.bytes.data()), p.bytes.size());
      if (p.number != Number::kTypeAttributes || p.type != code) continue;
      NMB_ASSIGN(ClassicHeader header, hdf5::decode_type_attributes(p.bytes, *types_.table()));
      const auto holder = std::make_shared<const Metadata>(std::move(header.metadata));
      NMB_TRY(holder->try_each_attribute(kGlobal, [&](const Attribute& attribute) -> Status {
        NMB_ASSIGN(AttributeContent content, attribute_content(attribute, nullptr));
        type.attributes.push_back(std::move(content));
        return {};
      }));
      type.holder = holder;
      std::ranges::stable_sort(type.attributes, {}, &AttributeContent::name);
    }
  }
  std::ranges::stable_sort(named, {}, &TypeContent::name);
  return named;
}

Status DatasetContent::add_planned_types(std::vector<TypeContent>* named) {
  const TypeTable* const table = types_.table();
  for (std::size_t i = 0; table && i < table->size(); ++i) {
    const SplitPath path = split_path(without_slash((*table)[i].name));
    if (path.name.empty() || path.parent != name_) continue;
    TypeContent& type = named->emplace_back();
    type.name = path.name;
    NMB_ASSIGN(type.type, texts_.of(static_cast<Type>(TypeTable::kFirst + i)));
  }
  std::ranges::stable_sort(*named, {}, &TypeContent::name);
  return {};
}

bool DatasetContent::is_empty() const {
  if (!dimensions_.empty() || !variables_.empty() || !comment().empty()) return false;
  if (const Property* links = property(kGlobal, Number::kLinks))
    for (const hdf5::Link& link : links->links)
      if (link.kind != hdf5::LinkKind::kVariable && link.kind != hdf5::LinkKind::kGroup)
        return false;
  bool has_attribute = false;
  dataset_->metadata.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
    has_attribute |= !view_.hides(kGlobal, attribute.name);
  });
  return !has_attribute;
}

bool DatasetContent::is_null(std::size_t number) const {
  const Property* const space = property(id(number), Number::kSpace);
  return space && space->space.space_class == hdf5::SpaceClass::kNull;
}

Result<std::vector<AxisContent>> DatasetContent::axes(std::size_t number) const {
  const NetcdfView::Variable& variable = view_.variables[variables_[number]];
  NMB_ASSIGN(const VariableShape shape, dataset_->shape(variable.id));
  const Property* const space = property(variable.id, Number::kSpace);
  std::vector<AxisContent> axes;
  for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
    AxisContent axis = named_axes_[variable.dimensions[i]];
    // netCDF shows fill values if a variable is shorter than its unlimited dimension.
    if (!view_.is_netcdf || !axis.is_unlimited || axis.dimension.empty())
      axis.length = shape.lengths[i];
    if (space && i < space->space.maximum.size() && i < space->space.lengths.size()) {
      const std::uint64_t maximum = space->space.maximum[i];
      if (maximum != hdf5::kUnlimitedLength && maximum != space->space.lengths[i])
        axis.maximum = maximum;
    }
    axes.push_back(std::move(axis));
  }
  add_other_scales(variable.id, variable.dimensions, &axes);
  return axes;
}

void DatasetContent::add_other_scales(VarId variable, std::span<const std::uint32_t> dimensions,
                                      std::vector<AxisContent>* axes) const {
  const Metadata& metadata = dataset_->metadata;
  // Scales have no scales themselves.
  if (is_classic_dataset(metadata) || is_dimension_scale(metadata, variable)) return;
  std::vector<std::vector<std::string>> lists =
      scale_lists(metadata, variable, axes->size(), std::numeric_limits<std::uint64_t>::max());
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const NetcdfView::Dimension& dimension = view_.dimensions[dimensions[i]];
    std::vector<std::string>& paths = lists[i];
    if (dimension.path.empty() ? paths.empty()
                               : paths.size() == 1 && paths.front() == dimension.path)
      continue;
    for (std::string& path : paths) path = move_.moved(path);
    (*axes)[i].other_scales = std::move(paths);
  }
}

Result<std::vector<AttributeContent>> DatasetContent::attributes_of(VarId owner) {
  std::vector<AttributeContent> attributes;
  std::uint32_t number = 0;
  NMB_TRY(dataset_->metadata.try_each_attribute(owner, [&](const Attribute& attribute) -> Status {
    const std::uint32_t own = number++;
    if (view_.hides(owner, attribute.name)) return {};
    Result<AttributeContent> content =
        attribute_content(attribute, property(owner, Number::kSpace, own));
    if (!content.ok())
      return in_file(content.status().of_object("attribute " + in_quotes(attribute.name)));
    attributes.push_back(std::move(*content));
    return {};
  }));
  std::ranges::stable_sort(attributes, {}, &AttributeContent::name);
  return attributes;
}

Result<std::vector<std::byte>> DatasetContent::fill_value(std::size_t number) {
  const TypeTable* const table = types_.table();
  const std::optional<Type> type = table ? table->classic(this->type(number)) : this->type(number);
  if (!type || *type == Type::kChar) return std::vector<std::byte>();
  if (const auto attribute = dataset_->metadata.find_attribute(id(number), "_FillValue")) {
    NMB_ASSIGN(AttributeContent content, attribute_content(*attribute, nullptr));
    if (content.type == type_name(*type) && content.count == 1) return std::move(content.values);
  }
  return type_size(*type) > 1 ? default_fill_value(*type) : std::vector<std::byte>();
}

Result<AttributeContent> DatasetContent::attribute_content(const Attribute& attribute,
                                                           const Property* space) {
  AttributeContent content;
  content.name = attribute.name;
  if (space && space->space.lengths.size() > 1) content.shape = space->space.lengths;
  const MemorySource region(attribute.values);
  const TypeTable* const table = types_.table();
  const bool is_string = TypeTable::is_extended(attribute.type) &&
                         table->at(attribute.type).type_class == TypeClass::kString;
  // A single string is the same text as an array of characters.
  std::uint64_t left = attribute.values.size();
  if (is_string && attribute.count <= 1) {
    std::vector<std::byte> text;
    bool is_text = true;
    if (attribute.count == 1 && table->at(attribute.type).variable_length) {
      const HeapValue value = HeapValue::load(attribute.values.data());
      NMB_ASSIGN(text, value.read(region, 1, &left));
      is_text = !value.is_null() && std::ranges::find(text, std::byte{0}) == text.end();
    } else if (attribute.count == 1) {
      NMB_TRY(types_.append(attribute.type, attribute.values.data(), region, &left, &text));
    }
    if (is_text) {
      content.is_string = table->at(attribute.type).variable_length;
      content.type = type_name(Type::kChar);
      content.count = text.size();
      content.values = std::move(text);
      return content;
    }
  }
  NMB_TRY(types_.check(attribute.type));
  NMB_ASSIGN(content.type, texts_.of(attribute.type));
  content.count = attribute.count;
  const std::uint64_t size = types_.stored_bytes(attribute.type);
  left = attribute.values.size();
  for (std::uint64_t i = 0; i < attribute.count; ++i)
    NMB_TRY(types_.append(attribute.type, attribute.values.data() + i * size, region, &left,
                          &content.values));
  return content;
}

}  // namespace nmb
