#include "import/alike_data_sets.h"

#include <cstring>
#include <deque>
#include <utility>

#include "hdf5_error.h"
#include "hdf5_types/memory_layout.h"
#include "wire/checked.h"
#include "wire/endian.h"

namespace nmb::hdf5 {

namespace {

// Maximum number of kinds of data sets that are learned from a file. The number is limited because
// a header of each kind is kept in memory. If a file has more kinds, learning saves no time.
constexpr std::size_t kMostKinds = 256;
// Number of bytes that the file stores for a value of variable length: the number of elements (4),
// the address of a collection of the global heap (8), and the index of the object in that
// collection (4).
constexpr std::uint64_t kHeapId = 16;

bool has_variable_length(const TypeTable& types, Type type) {
  if (!types.needs_heap(type)) return false;
  const ExtendedType& t = types.at(type);
  switch (t.type_class) {
    case TypeClass::kArray:
      return has_variable_length(types, t.base);
    case TypeClass::kCompound:
      for (const ExtendedType::Field& field : t.fields)
        if (has_variable_length(types, field.type)) return true;
      return false;
    case TypeClass::kReference:
      return t.reference != ReferenceKind::kObject;  // region references are stored in the heap
    default:
      return true;
  }
}

bool fits(std::uint64_t count, std::uint64_t step, std::size_t bytes) {
  std::uint64_t length = 0;
  return checked_mul(count, step, &length) && length <= bytes;
}

}  // namespace

Result<std::optional<DataSetIn>> AlikeDataSets::read(std::uint64_t address, TypesIn& types) {
  understood_ = header_.read(address);
  if (!understood_) return std::optional<DataSetIn>();
  const auto found = kinds_.find(header_.pattern());
  if (found == kinds_.end() || !found->second.known) return std::optional<DataSetIn>();
  return apply(found->second, types);
}

Status AlikeDataSets::learn(hid_t data_set, const std::optional<DataSetIn>& found, TypesIn& types) {
  if (!understood_ || kinds_.size() == kMostKinds || kinds_.contains(header_.pattern())) return {};
  Kind kind;
  if (found) {
    NMB_ASSIGN(kind, kind_of(data_set, *found, types));
  }
  if (kind.known) {
    // Keep the kind only if apply() gives the same result as the HDF5 library.
    NMB_ASSIGN(const std::optional<DataSetIn> again, apply(kind, types));
    kind.known = again == found;
  }
  kinds_.emplace(header_.pattern(), std::move(kind));
  return {};
}

Result<AlikeDataSets::Kind> AlikeDataSets::kind_of(hid_t data_set, const DataSetIn& found,
                                                   TypesIn& types) {
  const std::string object = "data set";
  Kind kind;
  kind.block = block_;
  NMB_ASSIGN(kind.type, read_handle(H5Dget_type(data_set), object));
  kind.first = found;
  kind.first.attributes.clear();
  const TypeTable& table = types.table();
  for (const AttributeIn& a : found.attributes) {
    Attribute attribute{0, a, {}, Form::kAsInMemory, memory_size(table, a.type), 0, false};
    attribute.first.values.clear();
    attribute.first.scales.clear();
    while (attribute.message < header_.attribute_count() &&
           header_.attribute(attribute.message).name != a.name)
      ++attribute.message;
    if (attribute.message == header_.attribute_count()) return Kind();
    NMB_ASSIGN(const Handle opened,
               read_handle(H5Aopen(data_set, a.name.c_str(), H5P_DEFAULT), object));
    NMB_ASSIGN(attribute.type, read_handle(H5Aget_type(opened.get()), object));
    // A list from which entries were left out is no model for the lists of other data sets.
    NMB_ASSIGN(const Handle space, read_handle(H5Aget_space(opened.get()), object));
    NMB_ASSIGN(const hssize_t elements,
               read_value(H5Sget_simple_extent_npoints(space.get()), object));
    if (static_cast<std::uint64_t>(elements) != a.count) return Kind();
    if (has_variable_length(table, a.type)) {
      const ExtendedType& type = table.at(a.type);
      if (type.type_class == TypeClass::kString) {
        attribute.form = Form::kStrings;
      } else if (type.type_class == TypeClass::kVlen && !has_variable_length(table, type.base)) {
        attribute.form = Form::kSequences;
        attribute.element = memory_size(table, type.base);
        NMB_ASSIGN(attribute.lists_objects, lists_objects(a.name, attribute.type.get()));
      } else {
        return Kind();
      }
    }
    kind.attributes.push_back(std::move(attribute));
  }
  kind.known = kind.attributes.size() == header_.attribute_count();
  return kind;
}

Result<std::optional<DataSetIn>> AlikeDataSets::apply(Kind& kind, TypesIn& types) {
  if (kind.block != block_) {
    NMB_ASSIGN(kind.first.type, types.code_of(kind.type.get()));
    for (Attribute& attribute : kind.attributes) {
      NMB_ASSIGN(attribute.first.type, types.code_of(attribute.type.get()));
    }
    kind.block = block_;
  }
  DataSetIn out = kind.first;
  out.space = header_.space();
  out.offset = header_.values_offset();
  std::uint64_t bytes = types.table().value_size(out.type);
  for (const std::uint64_t length : out.space.lengths)
    if (!checked_mul(bytes, length, &bytes)) return std::optional<DataSetIn>();
  if (bytes != header_.values_length()) return std::optional<DataSetIn>();
  out.attributes.reserve(kind.attributes.size());
  for (const Attribute& attribute : kind.attributes) {
    NMB_ASSIGN(const bool read,
               read_values(attribute, types, &out.attributes.emplace_back(attribute.first)));
    if (!read) return std::optional<DataSetIn>();
  }
  return std::optional<DataSetIn>(std::move(out));
}

// Builds the values in HDF5's form in memory, then converts them as attributes_in() does.
Result<bool> AlikeDataSets::read_values(const Attribute& attribute, const TypesIn& types,
                                        AttributeIn* out) {
  const ObjectHeaderIn::Attribute message = header_.attribute(attribute.message);
  const std::uint64_t count = out->count;
  if (count == 0) return true;
  if (attribute.form == Form::kAsInMemory) {
    if (!fits(count, attribute.step, message.values.size())) return false;
    NMB_TRY(take_values(file_, types, message.values.first(count * attribute.step), false, out));
    return out->count == count;
  }
  if (!fits(count, kHeapId, message.values.size())) return false;
  std::vector<std::byte> memory(count * attribute.step);
  std::deque<std::vector<std::byte>> elements;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const id = message.values.data() + i * kHeapId;
    const auto length = load_le<std::uint32_t>(id);
    const auto address = load_le<std::uint64_t>(id + 4);
    if (address == 0) {
      if (length != 0) return false;
      continue;  // zero in memory
    }
    const auto object = heap_.object(address, load_le<std::uint32_t>(id + 12));
    const bool text = attribute.form == Form::kStrings;
    std::uint64_t bytes_wanted = 0;
    if (length == 0 || !object ||
        !checked_mul(length, text ? 1 : attribute.element, &bytes_wanted) ||
        object->size() != bytes_wanted)
      return false;
    std::vector<std::byte>& bytes = elements.emplace_back(object->begin(), object->end());
    if (text) bytes.push_back(std::byte{0});
    const hvl_t sequence{length, bytes.data()};
    std::byte* const to = memory.data() + i * attribute.step;
    if (text)
      std::memcpy(to, &sequence.p, sizeof sequence.p);
    else
      std::memcpy(to, &sequence, sizeof sequence);
  }
  NMB_TRY(take_values(file_, types, memory, attribute.lists_objects, out));
  return true;
}

}  // namespace nmb::hdf5
