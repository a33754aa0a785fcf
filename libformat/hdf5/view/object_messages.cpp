#include "view/object_messages.h"

#include <algorithm>

#include "encoding/datatype_message.h"
#include "encoding/dimension_messages.h"
#include "hdf5_types/memory_layout.h"
#include "hdf5_types/netcdf_marks.h"
#include "hdf5_types/type_header.h"
#include "model/paths.h"
#include "model/text.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Property;
using hdf5::Space;
using hdf5::SpaceClass;
using Number = Property::Number;

// Writes a reference to a named datatype.
void put_named_type(std::uint64_t address, Hdf5Bytes& out) {
  constexpr unsigned kVersion = 3, kCommitted = 2;
  out.put8(kVersion);
  out.put8(kCommitted);
  out.put64(address);
}

void put_space(const Space& space, Hdf5Bytes& out) {
  switch (space.space_class) {
    case SpaceClass::kScalar:
      return put_scalar_space(out);
    case SpaceClass::kNull:
      return put_null_space(out);
    case SpaceClass::kSimple:
      return put_simple_space(out, space.lengths, space.maximum);
  }
}

}  // namespace

void add_space_and_type(const Space& space, const Hdf5Bytes& type, bool is_named,
                        ObjectHeader& header) {
  header.begin(HeaderMessage::kDataspace);
  put_space(space, header.bytes());
  (void)header.end();
  header.begin(HeaderMessage::kDatatype, kConstantMessage | (is_named ? kSharedMessage : 0));
  header.bytes().put(type.bytes());
  (void)header.end();
}

std::string null_references_text(std::uint64_t count) {
  return joined_text(count, count == 1 ? " reference is" : " references are",
                     " null, because the view does not show the object");
}

Status ObjectMessages::leave_out(LeftOutKind kind, std::string_view name, LeftOutReason reason,
                                 std::string why) {
  if (!shared_.on_left_out) return {};
  return shared_.on_left_out(
      {.kind = kind, .path = path_of(name), .reason = reason, .why = std::move(why)});
}

std::string ObjectMessages::path_of(std::string_view name) const {
  return joined_path(block_.name, name);
}

std::string ObjectMessages::object(std::string_view kind, std::string_view name) const {
  return joined_text(kind, " \"", printable(path_of(name)), "\"");
}

Status ObjectMessages::encode_type(Type type, const Property* attributes, std::uint64_t* address) {
  ObjectHeader header;
  header.start();
  header.begin(HeaderMessage::kDatatype, kConstantMessage);
  const std::size_t at = header.bytes().size();
  NMB_TRY(put_datatype(types_, type, header.bytes()));
  const Digest key =
      KnownObjects::key_of_type(types_.at(type).name, header.bytes().bytes().subspan(at));
  (void)header.end();
  for (const Property& property : properties_.all())
    if (property.number == Number::kTypeComment && property.type == type) {
      header.begin(HeaderMessage::kComment);
      header.bytes().put(std::span<const std::byte>(property.bytes));
      header.bytes().put8(0);
      if (!header.end()) header.drop();
    }
  add_reference_count(key, header);
  if (attributes) {
    NMB_ASSIGN(const ClassicHeader decoded,
               hdf5::decode_type_attributes(attributes->bytes, types_));
    NMB_TRY(add_attributes(decoded.metadata, kGlobal, types_.at(type).name, false, header));
  }
  NMB_ASSIGN(*address, shared_.out.append(header.finish()));
  shared_.now.place(key, *address);
  return {};
}

Result<std::optional<Digest>> ObjectMessages::put_named_or_plain(Type type, Hdf5Bytes& out) {
  if (!TypeTable::is_extended(type) || types_.at(type).name.empty()) {
    NMB_TRY(put_datatype(types_, type, out));
    return std::optional<Digest>();
  }
  Hdf5Bytes message;
  NMB_TRY(put_datatype(types_, type, message));
  const Digest key = KnownObjects::key_of_type(types_.at(type).name, message.bytes());
  // No link leads to this type, so the first object that uses the type writes it.
  if (shared_.before.is_unlinked_type(key) && !shared_.now.is_placed(key)) {
    std::uint64_t unused = 0;
    NMB_TRY(encode_type(type, nullptr, &unused));
  }
  put_named_type(shared_.before.address(key), out);
  return std::optional(key);
}

Status ObjectMessages::add_shared_messages(VarId owner, const Digest& key, ObjectHeader& header) {
  if (const Property* p = properties_.find(Number::kComment, owner)) {
    header.begin(HeaderMessage::kComment);
    header.bytes().put(std::span<const std::byte>(p->bytes));
    header.bytes().put8(0);
    if (!header.end()) {
      header.drop();
      NMB_TRY(leave_out(
          LeftOutKind::kComment, owner == kGlobal ? "" : metadata_.variable(owner).name,
          LeftOutReason::kTooLarge, joined_text("the comment has ", p->bytes.size(), " bytes")));
    }
  }
  add_reference_count(key, header);
  return {};
}

void ObjectMessages::add_reference_count(const Digest& key, ObjectHeader& header) const {
  const std::uint32_t references = shared_.before.references(key);
  if (references == 1) return;
  header.begin(HeaderMessage::kReferenceCount);
  header.bytes().put8(0);
  header.bytes().put32(references);
  (void)header.end();
}

Status ObjectMessages::add_attributes(const Metadata& metadata, VarId owner,
                                      const std::string& path, bool has_properties,
                                      ObjectHeader& header,
                                      std::optional<std::uint64_t> dimension) {
  std::uint32_t number = 0;
  add_attribute_info(header, metadata.attribute_count(owner) + (dimension ? 1 : 0),
                     has_properties ? properties_.order(owner).attributes : 0);
  NMB_TRY(metadata.try_each_attribute(owner, [&](const Attribute& attribute) -> Status {
    Space space = hdf5::usual_space(attribute);
    CharacterSet characters = hdf5::usual_character_set(attribute.name);
    if (has_properties) {
      NMB_ASSIGN(space, properties_.space(owner, number, attribute));
      if (const Property* p = properties_.find(Number::kCharacterSet, owner, number))
        characters = p->character_set;
    }
    std::vector<std::byte> bytes;
    const Attribute shown =
        has_properties && owner != kGlobal ? renumbered(owner, attribute, &bytes) : attribute;
    return add_attribute(shown, number++, space, characters, path, header);
  }));
  if (dimension) add_dimension_number(header, *dimension, number);
  return {};
}

Status ObjectMessages::leave_out_attribute(const Attribute& attribute, const std::string& path,
                                           LeftOutReason reason, std::string why) {
  if (!shared_.on_left_out) return {};
  return shared_.on_left_out({.kind = LeftOutKind::kAttribute,
                              .path = path.substr(path.starts_with('/') ? 1 : 0),
                              .attribute = std::string(attribute.name),
                              .reason = reason,
                              .why = std::move(why)});
}

Status ObjectMessages::add_attribute(const Attribute& attribute, std::uint32_t number,
                                     const Space& space, CharacterSet characters,
                                     const std::string& path, ObjectHeader& header) {
  const auto left_out = [&](LeftOutReason reason, std::string why) {
    return leave_out_attribute(attribute, path, reason, std::move(why));
  };
  if (attribute.name.empty() || attribute.name.find('\0') != attribute.name.npos)
    return left_out(LeftOutReason::kName, "the name is empty or has a NUL");
  if (attribute.name.size() >= kMostMessage || attribute.values.size() > 16 * kMostMessage ||
      number > kMostMessage || space.lengths.size() > kMostRank)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the attribute has ", attribute.values.size(), " bytes"));
  Hdf5Bytes type, extent, values;
  const Result<std::optional<Digest>> named = put_named_or_plain(attribute.type, type);
  if (!named.ok()) {
    if (named.status().code() != Code::kUnsupported) return named.status();
    return left_out(LeftOutReason::kType, named.status().message());
  }
  put_space(space, extent);
  // Check the length first, so that an attribute that is too long adds no objects to a heap.
  const std::uint64_t size = hdf5::memory_size(types_, attribute.type, hdf5::kStringInFile);
  if (size * attribute.count > kMostMessage)
    return left_out(LeftOutReason::kTooLarge,
                    joined_text("the attribute has ", size * attribute.count, " bytes"));
  const Status converted = values_.put(attribute.type, attribute.values, attribute.count, values);
  if (!converted.ok()) {
    if (converted.code() != Code::kUnsupported) return converted;
    return left_out(values_.reason(), converted.message());
  }
  header.begin(HeaderMessage::kAttribute, 0, number);
  Hdf5Bytes& out = header.bytes();
  put_attribute_prefix(out, attribute.name, type.size(), extent.size(),
                       characters == CharacterSet::kUtf8, named->has_value());
  out.put(type.bytes());
  out.put(extent.bytes());
  out.put(values.bytes());
  if (header.end()) {
    if (*named) shared_.now.count_type_use(**named);
    // In REFERENCE_LIST, null references in place of left-out variables do not count as lost.
    const std::uint64_t lost = values_.lost_references();
    if (lost == 0 || attribute.name == kReferenceList) return {};
    return left_out(LeftOutReason::kReference, null_references_text(lost));
  }
  header.drop();
  return left_out(LeftOutReason::kTooLarge,
                  joined_text("the attribute has ", values.size(), " bytes"));
}

// Returns the attribute with the dimension numbers of the view. NetCDF identifies the dimensions of
// a file by their numbers, and each source has its own range of numbers, so this function adds the
// first number of the source's range. A variable uses dimensions of its block and of the blocks
// above it; the nearest block that has the number defines the dimension.
Attribute ObjectMessages::renumbered(VarId owner, const Attribute& attribute,
                                     std::vector<std::byte>* bytes) const {
  const bool is_list = attribute.name == kCoordinates;
  if (!is_list && attribute.name != kDimensionId) return attribute;
  const std::vector<std::int64_t> numbers = integers(metadata_, owner, attribute.name);
  if (numbers.size() != attribute.count) return attribute;
  Attribute shown = attribute;
  const bool swapped = types_.is_swapped(attribute.type);
  bytes->assign(attribute.values.begin(), attribute.values.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) continue;
    const auto found = std::ranges::find_if(scales_, [&](const ScaleNumbers& scales) {
      return std::ranges::binary_search(scales.numbers, numbers[i]);
    });
    const std::size_t source =
        is_list && found != scales_.end() ? found->source : scales_.front().source;
    const auto number = static_cast<std::uint32_t>(static_cast<std::uint64_t>(numbers[i]) +
                                                   shared_.before.first_dimension(source));
    swapped ? store_le(bytes->data() + 4 * i, number) : store_be(bytes->data() + 4 * i, number);
  }
  shown.values = *bytes;
  return shown;
}

}  // namespace nmb
