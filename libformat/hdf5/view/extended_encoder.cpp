#include "view/extended_encoder.h"

#include <algorithm>
#include <optional>

#include "encoding/datatype_message.h"
#include "encoding/dimension_messages.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/text.h"
#include "netcdf/netcdf_view.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Creation;
using hdf5::Link;
using hdf5::LinkKind;
using hdf5::Property;
using hdf5::Space;
using Number = Property::Number;

}  // namespace

Status ExtendedEncoder::encode(std::vector<std::optional<std::int64_t>> numbers, ViewGroup* group) {
  const std::string text = messages_.object("block", "");
  const auto of_block = [&](const Status& status) {
    return Status(status.code(), status.file(), kNoOffset, status.rule(),
                  text + ": " + status.message());
  };
  Result<hdf5::PropertyTable> properties = hdf5::PropertyTable::of(metadata_);
  if (!properties.ok()) return of_block(properties.status());
  properties_ = std::move(*properties);
  const hdf5::Order order = properties_.order(kGlobal);
  if (const Property* p = properties_.find(Number::kUserBlock))
    NMB_TRY(messages_.leave_out(LeftOutKind::kUserBlock, "", LeftOutReason::kUserBlock,
                                joined_text("the user block has ", p->bytes.size(), " bytes")));
  group->is_extended = true;
  group->link_order = order.links;
  group->attribute_order = order.attributes;
  add_to_known(std::move(numbers), order.links);
  NMB_TRY(encode_types(&group->links));
  is_shown_.assign(metadata_.variable_count(), false);
  for (VarId id = 0; id < metadata_.variable_count(); ++id) {
    const Status status = encode_variable(id, &group->links);
    if (!status.ok())
      return Status(
          status.code(), status.file(), status.offset(), status.rule(),
          messages_.object("variable", metadata_.variable(id).name) + ": " + status.message());
  }
  NMB_TRY(arrange_links(group));
  header_.start(order.attributes);
  const std::size_t empty = header_.bytes().size();
  NMB_TRY(messages_.add_shared_messages(kGlobal, KnownObjects::key_of_path(block_.name), header_));
  if (const Status status =
          messages_.add_attributes(metadata_, kGlobal, block_.name, true, header_);
      !status.ok())
    return of_block(status);
  const auto messages = header_.bytes().bytes().subspan(empty);
  group->messages.assign(messages.begin(), messages.end());
  return {};
}

void ExtendedEncoder::add_to_known(std::vector<std::optional<std::int64_t>> numbers,
                                   unsigned link_order) {
  std::vector<std::string> groups;
  if (const Property* const p = properties_.find(Number::kLinks))
    for (const Link& link : p->links)
      if (link.kind == LinkKind::kGroup) groups.push_back(link.name);
  shared_.now.add_block(block_.name, source_, std::move(numbers), (link_order & 1) != 0,
                        std::move(groups));
}

// Returns the number that the view adds to a scale without a number, or nullopt if it adds none. In
// a view of several sources, netCDF-C might choose the same number for two dimensions, so the scale
// gets the number that netCDF-C chose in its source.
std::optional<std::uint64_t> ExtendedEncoder::added_number(VarId id) const {
  if (!shared_.before.renumbers() || !is_dimension_scale(metadata_, id) ||
      metadata_.find_attribute(id, kDimensionId))
    return std::nullopt;
  return static_cast<std::uint64_t>(shared_.before.scale_numbers(block_.name)[scales_ - 1]) +
         shared_.before.first_dimension(source_);
}

// Encodes the named datatypes whose first link is in this group.
Status ExtendedEncoder::encode_types(LinkList* links) {
  const Property* const p = properties_.find(Number::kLinks);
  if (!p) return {};
  for (const Link& link : p->links) {
    if (link.kind != LinkKind::kType) continue;
    const auto type = static_cast<Type>(link.number);
    if (link.number > 0xFFFF || !TypeTable::is_extended(type) || !types_.has(type) ||
        types_.at(type).name.empty())
      return failure(Code::kDamaged, messages_.object("group", ""), ": found a link to type ",
                     link.number, ", which is not a named type");
    Hdf5Bytes message;
    if (const Status status = put_datatype(types_, type, message); !status.ok()) {
      if (status.code() != Code::kUnsupported) return status;
      left_out_links_.insert(link.name);
      NMB_TRY(messages_.leave_out(LeftOutKind::kDatatype, link.name, LeftOutReason::kType,
                                  status.message()));
      continue;
    }
    const Digest key = KnownObjects::key_of_type(types_.at(type).name, message.bytes());
    const Digest path = KnownObjects::key_of_path(messages_.path_of(link.name));
    shared_.now.link_type(key, path);
    const Property* attributes = nullptr;
    for (const Property& property : properties_.all())
      if (property.number == Number::kTypeAttributes && property.type == type)
        attributes = &property;
    std::uint64_t address = shared_.now.address(key);
    if (address == 0) NMB_TRY(messages_.encode_type(type, attributes, &address));
    shared_.now.place(path, address);
    links->add(link.name, address, link.character_set);
  }
  return {};
}

// Computes which dimensions netCDF programs see, and the lengths of these dimensions. Variables of
// variable length do not count, because the view may leave them out.
Status ExtendedEncoder::look_at_dimensions() {
  NetcdfLengths seen{netcdf_view(block_), {}, {}};
  seen.lengths.resize(seen.view.dimensions.size());
  seen.dimensions.resize(metadata_.variable_count());
  for (NetcdfView::Variable& variable : seen.view.variables) {
    if (!types_.needs_heap(metadata_.variable(variable.id).type)) {
      NMB_ASSIGN(const Space space, properties_.space(metadata_, block_.records, variable.id));
      for (std::size_t i = 0; i < std::min(variable.dimensions.size(), space.lengths.size()); ++i) {
        std::uint64_t& length = seen.lengths[variable.dimensions[i]];
        length = std::max(length, space.lengths[i]);
      }
    }
    seen.dimensions[variable.id] = std::move(variable.dimensions);
  }
  seen_ = std::move(seen);
  return {};
}

// NetCDF takes the length of an unlimited dimension from the variables that it sees. Returns a text
// about the dimensions that look shorter if the view leaves out the variable, or an empty text.
Result<std::string> ExtendedEncoder::shorter_dimensions(VarId id, const Space& space) {
  std::string text;
  if (!shared_.on_left_out) return text;
  if (!seen_) NMB_TRY(look_at_dimensions());
  const std::vector<std::uint32_t>& dimensions = seen_->dimensions[id];
  for (std::size_t i = 0; i < std::min(dimensions.size(), space.lengths.size()); ++i) {
    const NetcdfView::Dimension& dimension = seen_->view.dimensions[dimensions[i]];
    const std::uint64_t shown = seen_->lengths[dimensions[i]];
    if (dimension.may_grow && shown < space.lengths[i])
      text += joined_text(
          "; of dimension \"", printable(dimension.name), "\", it has ", space.lengths[i],
          ", and the variables that netCDF programs see in this group have ", shown);
  }
  return text;
}

Status ExtendedEncoder::encode_variable(VarId id, LinkList* links) {
  const Variable variable = metadata_.variable(id);
  NMB_ASSIGN(const Space space, properties_.space(metadata_, block_.records, id));
  if (is_dimension_scale(metadata_, id)) ++scales_;
  const auto left_out = [&](LeftOutReason reason, std::string why) -> Status {
    NMB_TRY(messages_.leave_out(LeftOutKind::kVariable, variable.name, reason, std::move(why)));
    return is_dimension_scale(metadata_, id) ? encode_dimension(id, space, links) : Status();
  };
  if (types_.needs_heap(variable.type) && !shared_.copies) {
    NMB_ASSIGN(const std::string shorter, shorter_dimensions(id, space));
    return left_out(LeftOutReason::kVariableLength,
                    joined_text("the values have type ", types_.text(variable.type), shorter));
  }
  if (properties_.find(Number::kVirtual, id))
    return left_out(LeftOutReason::kVirtual, "the values are in other data sets");
  if (properties_.find(Number::kExternalFiles, id))
    return left_out(LeftOutReason::kElsewhere, "the values are in external files of HDF5");
  if (const Property* p = properties_.find(Number::kUndecoded, id))
    return left_out(LeftOutReason::kElsewhere, "the values " + why_absent(std::span(p, 1), id));
  if (space.lengths.size() > kMostRank)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the variable has ", space.lengths.size(), " dimensions"));
  const Creation creation = creation_of(metadata_, properties_, id);
  // This call may write a named datatype, so it comes before the header of the variable.
  Hdf5Bytes type;
  const Result<std::optional<Digest>> named = messages_.put_named_or_plain(variable.type, type);
  if (!named.ok()) {
    if (named.status().code() != Code::kUnsupported) return named.status();
    return left_out(LeftOutReason::kType, named.status().message());
  }
  header_.start(properties_.order(id).attributes);
  add_space_and_type(space, type, named->has_value(), header_);
  NMB_ASSIGN(Refused refused, storage_.add_storage(id, space, creation));
  if (refused) return left_out(refused->reason, std::move(refused->why));
  const Digest key = KnownObjects::key_of_path(messages_.path_of(variable.name));
  NMB_TRY(messages_.add_shared_messages(id, key, header_));
  NMB_TRY(messages_.add_attributes(metadata_, id, messages_.path_of(variable.name), true, header_,
                                   added_number(id)));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  shared_.now.place(key, address);
  if (*named) shared_.now.count_type_use(**named);
  if (const std::uint64_t lost = storage_.lost_references(); lost > 0)
    NMB_TRY(messages_.leave_out(LeftOutKind::kVariable, variable.name, LeftOutReason::kReference,
                                null_references_text(lost)));
  links->add(variable.name, address);
  is_shown_[id] = true;
  return {};
}

// Encodes a scale as a dimension only, because the view leaves out its values. Other variables may
// use the dimension.
Status ExtendedEncoder::encode_dimension(VarId id, const Space& space, LinkList* links) {
  constexpr std::uint64_t kMostLength = std::uint64_t{1} << 60;
  if (space.lengths.empty() || space.lengths[0] > kMostLength) return {};
  const std::vector<std::int64_t> number = integers(metadata_, id, kDimensionId, 1);
  std::optional<std::uint64_t> shown = added_number(id);
  if (!number.empty() && number[0] >= 0)
    shown = static_cast<std::uint64_t>(number[0]) + shared_.before.first_dimension(source_);
  const std::string text = text_of_dimension(space.lengths[0]);
  const std::string_view name = metadata_.variable(id).name;
  const Digest key = KnownObjects::key_of_path(messages_.path_of(name));
  header_.start();
  add_dimension_messages(header_, space.lengths[0], space.maximum[0] == hdf5::kUnlimitedLength);
  messages_.add_reference_count(key, header_);
  (void)add_scale_attributes(header_, text, text.size() + 1, shown);
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  shared_.now.place(key, address);
  links->add(name, address);
  is_shown_[id] = true;
  return {};
}

// Adds the soft, external, user-defined and additional hard links. Records the order of all links
// of the group.
Status ExtendedEncoder::arrange_links(ViewGroup* group) {
  const Property* const p = properties_.find(Number::kLinks);
  if (!p) return {};
  for (const Link& link : p->links) {
    if (link.kind == LinkKind::kVariable) {
      if (link.number >= metadata_.variable_count())
        return failure(Code::kDamaged, messages_.object("group", ""), ": found a link to variable ",
                       link.number, ", but the block has only ", metadata_.variable_count(),
                       " variables");
      if (is_shown_[link.number])
        group->order.push_back(
            {std::string(metadata_.variable(link.number).name), link.character_set});
      continue;
    }
    NMB_TRY(add_link(link, group));
    if (!left_out_links_.contains(link.name))
      group->order.push_back({link.name, link.character_set});
  }
  return {};
}

Status ExtendedEncoder::add_link(const Link& link, ViewGroup* group) {
  const auto left_out = [&](LeftOutReason reason, std::string why) {
    left_out_links_.insert(link.name);
    return messages_.leave_out(LeftOutKind::kLink, link.name, reason, std::move(why));
  };
  if (link.content.size() + link.name.size() > kMostMessage / 2)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the link has ", link.content.size(), " bytes"));
  switch (link.kind) {
    case LinkKind::kVariable:
    case LinkKind::kGroup:
    case LinkKind::kType:
      return {};
    case LinkKind::kSoft:
      group->links.add(link.name, kSoftLink, link.content, link.character_set);
      return {};
    case LinkKind::kExternal: {
      std::string content(1, static_cast<char>(link.number & 0xF));
      content += link.content;
      content += '\0';
      group->links.add(link.name, kExternalLink, content, link.character_set);
      return {};
    }
    case LinkKind::kHard: {
      const Digest target = KnownObjects::key_of_path(link.content);
      shared_.now.count_hard_link(target);
      if (shared_.before.is_absent(target))
        return left_out(LeftOutReason::kLink,
                        "the view leaves out the object to which the link leads");
      group->links.add(link.name, shared_.before.address(target), link.character_set);
      return {};
    }
    case LinkKind::kUserDefined:
      if (link.number < kExternalLink + 1 || link.number > 255)
        return failure(Code::kDamaged, messages_.object("link", link.name), ": found link class ",
                       link.number, ", expected 65 to 255");
      group->links.add(link.name, static_cast<std::uint8_t>(link.number), link.content,
                       link.character_set);
      return {};
  }
  return {};
}

}  // namespace nmb
