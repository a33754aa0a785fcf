#include "view/united_encoder.h"

#include <utility>

#include "encoding/datatype_message.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "values/hole_value.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Creation;
using hdf5::Space;
using hdf5::SpaceClass;

}  // namespace

Status UnitedEncoder::encode(const std::vector<std::optional<ViewDimension>>& above,
                             ViewGroup* group) {
  NMB_ASSIGN(properties_, hdf5::PropertyTable::of(metadata_));
  const std::uint64_t count = data_sets_.dimensions ? metadata_.dimension_count() : 0;
  data_sets_.references.add(count);
  shared_.now.count_extended_dimensions(count);
  dimensions_.find(above, std::vector<bool>(metadata_.variable_count(), true));
  NMB_TRY(encode_types(&group->links));
  for (VarId id = 0; id < metadata_.variable_count(); ++id)
    NMB_TRY(encode_variable(id, &group->links)
                .of_object(messages_.object("variable", metadata_.variable(id).name)));
  NMB_TRY(dimensions_.encode(&group->links));
  group->dimensions = dimensions_.own();
  for (std::size_t i = 0; i < group->links.size(); ++i)
    shared_.now.place(KnownObjects::key_of_path(messages_.path_of(group->links.name(i))),
                      group->links.address(i));
  header_.start();
  const std::size_t empty = header_.bytes().size();
  add_attribute_info(header_, metadata_.attribute_count(kGlobal));
  NMB_TRY(add_attributes(kGlobal, block_.name, header_));
  const auto messages = header_.bytes().bytes().subspan(empty);
  group->messages.assign(messages.begin(), messages.end());
  return {};
}

// Encodes the named datatypes whose path leads to this group.
Status UnitedEncoder::encode_types(LinkList* links) {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    std::string_view path = types_[i].name;
    if (path.empty()) continue;
    path.remove_prefix(path.starts_with('/') ? 1 : 0);
    const auto [parent, name] = split_path(path);
    if (parent != block_.name || name.empty() || metadata_.find_variable(name) ||
        metadata_.find_dimension(name))
      continue;
    NMB_TRY(encode_type(static_cast<Type>(TypeTable::kFirst + static_cast<std::uint32_t>(i)),
                        std::string(name), links));
  }
  return {};
}

Status UnitedEncoder::encode_type(Type type, const std::string& name, LinkList* links) {
  Hdf5Bytes message;
  if (const Status status = put_datatype(types_, type, message); !status.ok()) {
    if (status.code() != Code::kUnsupported) return status;
    return messages_.leave_out(LeftOutKind::kDatatype, name, LeftOutReason::kType,
                               status.message());
  }
  const Digest key = KnownObjects::key_of_type(types_.at(type).name, message.bytes());
  const Digest path = KnownObjects::key_of_path(messages_.path_of(name));
  if (shared_.now.is_placed(path)) return {};
  shared_.now.link_type(key, path);
  std::uint64_t address = shared_.now.address(key);
  if (address == 0) NMB_TRY(messages_.encode_type(type, nullptr, &address));
  shared_.now.place(path, address);
  links->add(name, address);
  return {};
}

// Returns how the data set of a variable is made. Without chunks, a variable of a classic type has
// the fill value that its unwritten values have in NMB.
Creation UnitedEncoder::creation(VarId id, const Space& space) const {
  Creation creation = creation_of(metadata_, properties_, id);
  const Storage* const storage = metadata_.extension()->storage_of(id);
  if (storage || TypeTable::is_extended(metadata_.variable(id).type)) return creation;
  creation.fill_state = hdf5::FillState::kUser;
  creation.fill_value = hole_value(metadata_, id, properties_.all());
  if (space.lengths != space.maximum) creation.allocation = hdf5::Allocation::kIncremental;
  return creation;
}

Result<std::optional<Digest>> UnitedEncoder::put_type(Type type, Hdf5Bytes& out) {
  if (TypeTable::is_extended(type)) return messages_.put_named_or_plain(type, out);
  nmb::put_type(out, type);
  return std::optional<Digest>();
}

Status UnitedEncoder::encode_variable(VarId id, LinkList* links) {
  const Variable variable = metadata_.variable(id);
  const auto left_out = [&](LeftOutReason reason, std::string why) {
    dimensions_.leave_out(id);
    return messages_.leave_out(LeftOutKind::kVariable, variable.name, reason, std::move(why));
  };
  if (types_.needs_heap(variable.type) && !shared_.copies)
    return left_out(LeftOutReason::kVariableLength,
                    joined_text("the values have type ", types_.text(variable.type)));
  NMB_ASSIGN(const Space space, properties_.space(metadata_, block_.records, id));
  if (space.lengths.size() > kMostRank)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the variable has ", space.lengths.size(), " dimensions"));
  // This call may write a named datatype, so it comes before the header of the variable.
  Hdf5Bytes type;
  const Result<std::optional<Digest>> named = put_type(variable.type, type);
  if (!named.ok()) {
    if (named.status().code() != Code::kUnsupported) return named.status();
    return left_out(LeftOutReason::kType, named.status().message());
  }
  header_.start();
  add_space_and_type(space, type, named->has_value(), header_);
  NMB_ASSIGN(Refused refused, storage_.add_storage(id, space, creation(id, space)));
  if (refused) return left_out(refused->reason, std::move(refused->why));
  NMB_TRY(dimensions_.add_attributes(id));
  NMB_TRY(add_attributes(id, messages_.path_of(variable.name), header_));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  if (*named) shared_.now.count_type_use(**named);
  dimensions_.place(id, address);
  links->add(dimensions_.name_of(id), address);
  return {};
}

Status UnitedEncoder::add_attributes(VarId owner, const std::string& path, ObjectHeader& header) {
  std::uint32_t number = 0;
  return metadata_.try_each_attribute(owner, [&](const Attribute& attribute) {
    return add_attribute(owner, attribute, number++, path, header);
  });
}

Status UnitedEncoder::add_attribute(VarId owner, const Attribute& attribute, std::uint32_t number,
                                    const std::string& path, ObjectHeader& header) {
  const auto left_out = [&](LeftOutReason reason, std::string why) {
    return messages_.leave_out_attribute(attribute, path, reason, std::move(why));
  };
  if (attribute.name.empty() || attribute.name.find('\0') != attribute.name.npos)
    return left_out(LeftOutReason::kName, "the name is empty or has a NUL");
  if (attribute.name.size() > kMostNetcdfName)
    return left_out(LeftOutReason::kName,
                    joined_text("the name has ", attribute.name.size(), " bytes"));
  if (owner != kGlobal && is_name_of_dimensions(attribute.name))
    return left_out(LeftOutReason::kName, "netCDF-4 uses the name for dimensions");
  const hdf5::Property* const scalar =
      properties_.find(hdf5::Property::Number::kSpace, owner, number);
  if (scalar || TypeTable::is_extended(attribute.type)) {
    const Space space = scalar ? scalar->space
                        : attribute.count == 0
                            ? Space{SpaceClass::kNull, {}, {}}
                            : Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
    return messages_.add_attribute(attribute, number, space,
                                   hdf5::usual_character_set(attribute.name), path, header);
  }
  const std::string_view text(reinterpret_cast<const char*>(attribute.values.data()),
                              attribute.values.size());
  const bool fits = attribute.type == Type::kChar
                        ? add_text_attribute(header, attribute.name, text, text.size())
                        : add_number_attribute(header, attribute.name, attribute.type,
                                               attribute.count, attribute.values);
  if (fits) return {};
  header.drop();
  return left_out(LeftOutReason::kTooLarge,
                  joined_text("the attribute has ", attribute.values.size(), " bytes"));
}

}  // namespace nmb
