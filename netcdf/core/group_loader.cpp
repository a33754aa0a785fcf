#include "group_loader.h"

#include <algorithm>
#include <limits>

#include "codes.h"
#include "dump/group_walk.h"
#include "elements/element_form.h"
#include "handles/reader_state.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"

namespace nmb::udf {

namespace {

std::string c_name(std::string_view name) { return std::string(name.substr(0, name.find('\0'))); }

// The number of netCDF-C for user types of a class, or 0.
int class_of(const ExtendedType& type) {
  switch (type.type_class) {
    case TypeClass::kCompound:
      return NC_COMPOUND;
    case TypeClass::kVlen:
      return NC_VLEN;
    case TypeClass::kOpaque:
      return NC_OPAQUE;
    case TypeClass::kEnum:
      return NC_ENUM;
    default:
      return 0;
  }
}

// The path of the group that defines a dimension.
std::string owner_of(std::string_view group, const std::string& path,
                     const std::vector<std::uint32_t>& levels, std::size_t number,
                     std::string_view name) {
  if (!path.empty()) return std::string(split_path(without_slash(path)).parent);
  if (number < levels.size() && levels[number] > 0)
    if (const auto above = path_above(group, levels[number], name))
      return std::string(split_path(*above).parent);
  return std::string(group);
}

}  // namespace

GroupLoader::Types GroupLoader::types_of(const Dataset& dataset) {
  Types out;
  if (const Extension* const extension = dataset.metadata.extension().get();
      extension && extension->types.size() > 0) {
    out.table = &extension->types;
    out.digests = type_digests(extension->types);
  }
  return out;
}

int GroupLoader::load() {
  if (group_.is_loaded) return NC_NOERR;
  if (group_.is_loading) return NC_EINTERNAL;
  struct Loading {
    explicit Loading(bool& flag) : is(flag) { is = true; }
    ~Loading() { is = false; }
    bool& is;
  } const loading(group_.is_loading);

  const ReaderState& state = *ReaderState::of(file_.reader_);
  const Result<std::optional<BlockEntry>> entry = state.file.find(group_.path);
  if (!entry.ok()) return failed(entry.status());
  if (!*entry) {
    group_.is_loaded = true;
    return NC_NOERR;
  }
  const Result<std::shared_ptr<const Dataset>> dataset = state.file.dataset(**entry);
  if (!dataset.ok()) return failed(dataset.status().in_file(file_.path()));
  const Result<ShownBlock> shown = state.view(**entry).try_shown();
  if (!shown.ok()) return failed(shown.status().in_file(file_.path()));
  source_of(*dataset);
  NMB_NC_TRY(add_types(**dataset));

  // netCDF makes up dimensions only for variables that it shows.
  std::vector<bool> is_used(shown->dims.size());
  for (const ShownVariable& variable : shown->vars) {
    const std::size_t source = source_of(ReaderState::dataset_of(variable.var));
    const Dataset& of = *made_.sources[source].dataset;
    const Type code = of.metadata.variable(ReaderState::id_of(variable.var)).type;
    variable_types_.emplace_back();
    NMB_NC_TRY(find_type(source_types_[source], code, &variable_types_.back()));
    if (variable_types_.back() != NC_NAT)
      for (const std::uint32_t d : variable.dims) is_used[d] = true;
  }
  NMB_NC_TRY(add_dimensions(**dataset, *shown, is_used));
  NMB_NC_TRY(add_attributes(source_types_[0], **dataset, kGlobal, shown->atts, &made_.attributes));
  NMB_NC_TRY(add_variables(*shown));
  NMB_NC_TRY(order_variables(**dataset));

  group_.sources = std::move(made_.sources);
  group_.dimensions = std::move(made_.dimensions);
  group_.variables = std::move(made_.variables);
  group_.attributes = std::move(made_.attributes);
  group_.is_loaded = true;
  return NC_NOERR;
}

std::size_t GroupLoader::source_of(const std::shared_ptr<const Dataset>& dataset) {
  const auto found = std::ranges::find(made_.sources, dataset, &Group::Source::dataset);
  if (found != made_.sources.end()) return static_cast<std::size_t>(found - made_.sources.begin());
  made_.sources.push_back({dataset->name, dataset, file_.epoch_});
  source_types_.push_back(types_of(*dataset));
  return made_.sources.size() - 1;
}

// --- types ---

int GroupLoader::add_types(const Dataset& dataset) {
  // A group that could not be loaded before may have some of its types.
  const Types& types = source_types_[0];
  if (!types.table) return NC_NOERR;
  const Result<std::vector<Type>> linked = linked_types(*dataset.metadata.extension());
  if (!linked.ok()) return failed(linked.status().in_file(file_.path()));
  for (const Type code : *linked) {
    const std::string_view name = split_path(types.table->at(code).name).name;
    const bool is_there =
        std::ranges::any_of(group_.types, [&](nc_type id) { return file_.type(id)->name == name; });
    if (!is_there) NMB_NC_TRY(define_type(types, code, name));
  }
  return NC_NOERR;
}

int GroupLoader::define_type(const Types& types, Type code, std::string_view name) {
  const ExtendedType& type = types.table->at(code);
  const Result<ElementForm> form = ElementForm::of(types.table, code);
  if (!form.ok()) return failed(form.status().in_file(file_.path()));
  const std::optional<MemoryForm> memory = MemoryForm::of(form->type());
  if (!memory || memory->size() == 0) return NC_NOERR;
  UserType out;
  out.name = name;
  out.type_class = class_of(type);
  out.size = memory->size();
  bool is_known = true;
  if (out.type_class == NC_COMPOUND)
    NMB_NC_TRY(define_fields(types, type, form->type(), *memory, &out, &is_known));
  if (out.type_class == NC_VLEN || out.type_class == NC_ENUM) {
    NMB_NC_TRY(find_type(types, type.base, &out.base));
    is_known = out.base != NC_NAT;
  }
  if (out.type_class == NC_ENUM) out.members = form->type().enumerators;
  if (!is_known) return NC_NOERR;
  nc_type id = NC_NAT;
  NMB_NC_TRY(file_.add_type(std::move(out), &id));
  group_.types.push_back(id);
  group_.types_by_digest.emplace(
      types.digests[static_cast<std::uint32_t>(code) - TypeTable::kFirst], id);
  return NC_NOERR;
}

int GroupLoader::define_fields(const Types& types, const ExtendedType& type, const DataType& data,
                               const MemoryForm& form, UserType* out, bool* is_known) {
  const std::vector<std::size_t> offsets = form.offsets();
  if (offsets.size() != type.fields.size() || data.members.size() != type.fields.size())
    return NC_EINTERNAL;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    UserType::Field field;
    field.name = type.fields[i].name;
    field.offset = offsets[i];
    Type code = type.fields[i].type;
    const DataType* part = &data.members[i].type;
    if (part->data_class == DataClass::kArray) {
      for (const std::uint64_t length : part->lengths) {
        if (length > std::numeric_limits<int>::max()) *is_known = false;
        field.lengths.push_back(static_cast<int>(length));
      }
      if (part->lengths.size() > NC_MAX_VAR_DIMS) *is_known = false;
      code = types.table->at(code).base;
      part = &part->base[0];
    }
    // As netCDF-C has it, a text of fixed length in a compound is characters.
    if (part->data_class == DataClass::kText)
      field.type = NC_CHAR;
    else
      NMB_NC_TRY(find_type(types, code, &field.type));
    *is_known = *is_known && field.type != NC_NAT;
    out->fields.push_back(std::move(field));
  }
  return NC_NOERR;
}

int GroupLoader::find_type(const Types& types, Type code, nc_type* out) {
  *out = NC_NAT;
  if (!TypeTable::is_extended(code)) {
    *out = static_cast<nc_type>(code);
    return NC_NOERR;
  }
  const ExtendedType& type = types.table->at(code);
  if (class_of(type) != 0)
    return find_user_type(types.digests[static_cast<std::uint32_t>(code) - TypeTable::kFirst], out);
  const Result<ElementForm> form = ElementForm::of(types.table, code);
  if (!form.ok()) return failed(form.status().in_file(file_.path()));
  *out = atomic_type(form->type());
  return NC_NOERR;
}

int GroupLoader::find_user_type(const Digest& digest, nc_type* out) {
  std::vector<Group*> above;
  for (Group* at = &group_; at; at = file_.group(at->parent)) above.push_back(at);
  for (; !above.empty(); above.pop_back()) {
    const auto found = above.back()->types_by_digest.find(digest);
    if (found == above.back()->types_by_digest.end()) continue;
    *out = found->second;
    return NC_NOERR;
  }
  return file_.type_in_file(digest, out);
}

// --- dimensions ---

int GroupLoader::add_dimensions(const Dataset& dataset, const ShownBlock& shown,
                                const std::vector<bool>& is_used) {
  NetcdfView view;
  std::vector<std::uint32_t> levels;
  if (dataset.metadata.extension()) {
    const Result<FileDimensions> all = ReaderState::of(file_.reader_)->dimensions(dataset);
    if (!all.ok()) return failed(all.status().in_file(file_.path()));
    view = netcdf_view(dataset, &all->lengths, all->first_made_up);
    levels = levels_above(dataset.metadata);
  }
  for (std::size_t d = 0; d < shown.dims.size(); ++d) {
    const DimView& dim = shown.dims[d];
    dimension_ids_.push_back(-1);
    std::string name = dim.name;
    if (d < view.dimensions.size()) {
      const NetcdfView::Dimension& seen = view.dimensions[d];
      if (seen.is_made_up && !is_used[d]) continue;
      if (!seen.path.empty()) name = split_path(seen.path).name;
      const std::string owner = owner_of(group_.path, seen.path, levels, d, seen.name);
      if (owner != group_.path) {
        std::optional<int> outer;
        NMB_NC_TRY(outer_dimension(owner, name, &outer));
        if (outer) {
          dimension_ids_.back() = *outer;
          continue;
        }
        name = dim.name;
      }
    }
    file_.dimensions_.push_back({c_name(name), dim.length, dim.may_grow});
    dimension_ids_.back() = static_cast<int>(file_.dimensions_.size() - 1);
    made_.dimensions.push_back({file_.dimensions_.back().name, dimension_ids_.back()});
  }
  return NC_NOERR;
}

int GroupLoader::outer_dimension(std::string_view owner, std::string_view name,
                                 std::optional<int>* out) {
  for (Group* at = file_.group(group_.parent); at; at = file_.group(at->parent)) {
    if (at->path != owner) continue;
    if (const auto found = at->dimension_names.find(at->dimensions, name))
      *out = at->dimensions[*found].id;
    return NC_NOERR;
  }
  return NC_NOERR;
}

// --- attributes and variables ---

int GroupLoader::add_attributes(const Types& types, const Dataset& dataset, VarId owner,
                                const std::vector<AttView>& shown,
                                std::vector<GroupAttribute>* out) {
  for (const AttView& att : shown) {
    // netCDF's attributes have at most one dimension.
    if (att.shape().size() > 1) continue;
    const std::optional<Attribute> stored = dataset.metadata.find_attribute(owner, att.name());
    if (!stored) return NC_EINTERNAL;
    GroupAttribute made{c_name(att.name()), att.name(), NC_NAT,
                        static_cast<std::size_t>(stored->count)};
    if (TypeTable::is_extended(stored->type)) {
      const ExtendedType& type = types.table->at(stored->type);
      if (type.type_class == TypeClass::kString && !type.variable_length) {
        // Without elements, it has a null dataspace, and no characters.
        made.type = att.shape().empty() || stored->count == 0 ? NC_CHAR : NC_STRING;
        if (made.type == NC_CHAR)
          made.length = stored->count == 0 ? 0 : static_cast<std::size_t>(type.size);
      } else {
        NMB_NC_TRY(find_type(types, stored->type, &made.type));
      }
    } else {
      made.type = static_cast<nc_type>(stored->type);
    }
    if (made.type != NC_NAT) out->push_back(std::move(made));
  }
  return NC_NOERR;
}

int GroupLoader::add_variables(const ShownBlock& shown) {
  for (std::size_t v = 0; v < shown.vars.size(); ++v) {
    if (variable_types_[v] == NC_NAT) continue;
    const ShownVariable& variable = shown.vars[v];
    GroupVariable made;
    made.name = c_name(variable.name);
    made.type = variable_types_[v];
    made.id = ReaderState::id_of(variable.var);
    made.source = source_of(ReaderState::dataset_of(variable.var));
    for (const std::uint32_t d : variable.dims) made.dimensions.push_back(dimension_ids_[d]);
    NMB_NC_TRY(add_attributes(source_types_[made.source], *made_.sources[made.source].dataset,
                              made.id, variable.atts, &made.attributes));
    made_.variables.push_back(std::move(made));
  }
  return NC_NOERR;
}

// Variables under the names of other links are among the others, in the order of the links.
int GroupLoader::order_variables(const Dataset& dataset) {
  const auto has_other_name = [&](const GroupVariable& variable) {
    return variable.source != 0 || variable.name != dataset.metadata.variable(variable.id).name;
  };
  if (!dataset.metadata.extension() || std::ranges::none_of(made_.variables, has_other_name))
    return NC_NOERR;
  constexpr hdf5::Property::Number kWanted[] = {hdf5::Property::Number::kLinks};
  const auto properties = hdf5::decode_properties(dataset.metadata.extension()->hdf5, kWanted);
  if (!properties.ok()) return failed(properties.status().in_file(file_.path()));
  std::map<std::string_view, std::size_t> order;
  for (const hdf5::Property& property : *properties)
    for (const hdf5::Link& link : property.links)
      if (property.owner == kGlobal) order.emplace(link.name, order.size());
  const auto place = [&](const GroupVariable& variable) {
    std::string_view name = variable.name;
    if (variable.source == 0) {
      const std::string_view stored = dataset.metadata.variable(variable.id).name;
      if (stored.ends_with(name)) name = stored;  // with the prefix of no coordinate
    }
    const auto found = order.find(name);
    return found == order.end() ? order.size() : found->second;
  };
  std::ranges::stable_sort(made_.variables, {}, place);
  return NC_NOERR;
}

}  // namespace nmb::udf
