// Values of variable length are written in the order in which the HDF5 library returns them, so
// that the output can be written to HDF5, converted back and compared byte by byte.
#include "convert/moved_paths.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/netcdf_marks.h"
#include "hdf5_types/type_header.h"
#include "hdf5_types/virtual_name.h"
#include "model/classic.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "model/value_begin.h"
#include "sources/value_source.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/items.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMoveWindow = 256 << 10;  // number of bytes that are read or moved together
constexpr std::uint64_t kLongest = 256
                                   << 20;  // maximum number of bytes to which one value may refer

// The HDF5 attribute in which a dimension scale lists the data sets that use it.
constexpr std::string_view kScaleUsers = "REFERENCE_LIST";

// For each type, in the order of the type numbers, returns whether values of the type contain
// references to objects.
std::vector<bool> reference_types(const TypeTable& types) {
  std::vector<bool> out(types.size(), false);
  const auto leads = [&](Type type) {
    return TypeTable::is_extended(type) &&
           out[static_cast<std::uint32_t>(type) - TypeTable::kFirst];
  };
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ExtendedType& t = types[i];
    out[i] = t.type_class == TypeClass::kReference ||
             ((t.type_class == TypeClass::kVlen || t.type_class == TypeClass::kArray) &&
              leads(t.base)) ||
             (t.type_class == TypeClass::kCompound &&
              std::ranges::any_of(t.fields, leads, &ExtendedType::Field::type));
  }
  return out;
}

bool leads_to_object(const hdf5::Link& link) {
  return link.kind == hdf5::LinkKind::kHard ||
         (link.kind == hdf5::LinkKind::kSoft && link.content.starts_with('/'));
}

// Changes the paths in the values of one variable or attribute. The values refer to further bytes,
// which are stored after all values.
class ValueMover {
 public:
  // All arguments must outlive this object. In the new region, the bytes to which the values refer
  // begin at the position `begin`. If `drops` is true, sequences lose their references to removed
  // objects.
  ValueMover(const TypeTable& types, const ByteSource& region, const PathMap& map,
             std::uint64_t begin, bool drops = false)
      : types_(types),
        region_(region),
        map_(map),
        drops_(drops),
        end_(begin),
        left_(region.size()) {}

  // Changes the paths in one value, and rewrites `value` to refer to the new bytes.
  Status move(Type type, std::byte* value) {
    if (!types_.needs_heap(type)) return {};
    const ExtendedType& t = types_.at(type);
    if (t.type_class == TypeClass::kArray) {
      const std::uint64_t size = types_.value_size(t.base);
      for (std::uint64_t at = 0; at < t.size; at += size) NMB_TRY(move(t.base, value + at));
      return {};
    }
    if (t.type_class == TypeClass::kCompound) {
      for (const ExtendedType::Field& field : t.fields)
        NMB_TRY(move(field.type, value + field.offset));
      return {};
    }
    auto count = load_le<std::uint64_t>(value);
    const auto offset = load_le<std::uint64_t>(value + 8);
    if (offset == 0 && count == 0) return {};
    const bool is_sequence = t.type_class == TypeClass::kVlen;
    std::uint64_t length = 0;
    if (offset == 0 || !checked_mul(count, is_sequence ? types_.value_size(t.base) : 1, &length) ||
        offset > region_.size() || length > region_.size() - offset)
      return Status(Code::kDamaged, "found a value that refers to " + std::to_string(count) +
                                        " elements at " + std::to_string(offset) +
                                        ", expected an end within " +
                                        std::to_string(region_.size()) + " bytes");
    if (length > left_)
      return Status(Code::kDamaged, {}, kNoOffset, "R-XV-2",
                    "found values that together refer to more than the " +
                        std::to_string(region_.size()) + " bytes of the region");
    left_ -= length;
    if (length > kLongest)
      return Status(Code::kLimit, "found a value that refers to more than " +
                                      std::to_string(kLongest) + " bytes");
    std::vector<std::byte> bytes(static_cast<std::size_t>(length));
    NMB_TRY(read(offset, bytes));
    if (is_sequence) {
      const std::uint64_t size = types_.value_size(t.base);
      std::uint64_t kept = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        const bool was_lost = std::exchange(is_lost_, false);
        NMB_TRY(move(t.base, bytes.data() + i * size));
        const bool drops = drops_ && is_lost_;
        is_lost_ = is_lost_ || was_lost;
        if (drops) continue;
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    bytes.begin() + static_cast<std::ptrdiff_t>(kept++ * size));
      }
      count = kept;
      bytes.resize(static_cast<std::size_t>(kept * size));
    } else if (t.type_class == TypeClass::kReference && !bytes.empty()) {
      NMB_ASSIGN(std::optional<std::vector<std::byte>> moved,
                 moved_reference(t.reference, bytes, map_));
      is_lost_ = is_lost_ || !moved;
      bytes = moved ? std::move(*moved) : std::vector<std::byte>();
    }
    // An empty string and an absent string are different values. In all other types, an empty value
    // is the same as an absent value.
    const bool is_none = bytes.empty() && t.type_class != TypeClass::kString;
    store_le(value, is_none ? std::uint64_t{0} : is_sequence ? count : std::uint64_t{bytes.size()});
    store_le(value + 8, is_none ? 0 : end_);
    led_to_.insert(led_to_.end(), bytes.begin(), bytes.end());
    end_ += bytes.size();
    return {};
  }

  // Returns the bytes to which values refer, for the values that were moved since the last call. In
  // the region, these bytes directly follow the bytes that the last call returned.
  std::vector<std::byte> take() { return std::exchange(led_to_, {}); }
  std::uint64_t end() const { return end_; }
  std::size_t held() const { return led_to_.size(); }
  // Returns whether move() has found a reference to a removed object since the last call.
  bool take_lost() { return std::exchange(is_lost_, false); }

 private:
  Status read(std::uint64_t offset, std::span<std::byte> out) {
    if (out.size() >= kMoveWindow / 4) return region_.read_at(offset, out);
    if (offset < window_begin_ || offset - window_begin_ > window_.size() ||
        out.size() > window_.size() - (offset - window_begin_)) {
      std::vector<std::byte> window(
          static_cast<std::size_t>(std::min(kMoveWindow, region_.size() - offset)));
      NMB_TRY(region_.read_at(offset, window));
      window_ = std::move(window);
      window_begin_ = offset;
    }
    std::ranges::copy(std::span<const std::byte>(window_).subspan(
                          static_cast<std::size_t>(offset - window_begin_), out.size()),
                      out.begin());
    return {};
  }

  const TypeTable& types_;
  const ByteSource& region_;
  const PathMap& map_;
  const bool drops_;
  bool is_lost_ = false;
  std::uint64_t end_;
  std::uint64_t left_;  // number of bytes to which the next values may refer (R-XV-2)
  std::vector<std::byte> led_to_, window_;
  std::uint64_t window_begin_ = 0;
};

class PathMover {
 public:
  // `kept` says for each variable whether it is kept. If `kept` is empty, all variables are kept.
  // `drops_targets`: see drop_lost_targets().
  PathMover(const Dataset& block, const PathMap& map, const std::shared_ptr<SpoolFile>& spool,
            const std::vector<bool>& kept = {}, bool drops_targets = false)
      : block_(block),
        map_(map),
        spool_(spool),
        types_(block.metadata.extension()->types),
        leads_(reference_types(types_)),
        drops_variables_(!kept.empty()),
        drops_targets_(drops_targets) {
    VarId next = 0;
    for (VarId v = 0; v < block.metadata.variable_count(); ++v)
      numbers_.push_back(kept.empty() || kept[v] ? std::optional(next++) : std::nullopt);
  }

  Result<MovedContent> run() {
    Extension extension = *block_.metadata.extension();
    NMB_TRY(move_types(&extension));
    Metadata metadata{Metadata::Names::kAsFound};
    metadata.set_extension(std::make_shared<const Extension>(extension));
    for (DimId d = 0; d < block_.metadata.dimension_count(); ++d) {
      const Dimension dimension = block_.metadata.dimension(d);
      NMB_TRY(metadata.def_dim(dimension.name, dimension.length).status());
    }
    NMB_TRY(move_attributes(kGlobal, &metadata));
    for (VarId v = 0; v < block_.metadata.variable_count(); ++v) {
      if (!numbers_[v]) continue;
      const Variable variable = block_.metadata.variable(v);
      NMB_TRY(metadata.def_var(variable.name, variable.type, variable.dimensions).status());
      metadata.set_begin(*numbers_[v], variable.begin - block_.layout.header_length);
      NMB_TRY(of(v, move_attributes(v, &metadata)));
    }
    NMB_TRY(move_properties(&extension));
    MovedContent out;
    NMB_ASSIGN(out.extent, move_values(&metadata, &extension));
    metadata.set_extension(std::make_shared<const Extension>(std::move(extension)));
    NMB_ASSIGN(out.body,
               encode_extended_body(metadata, metadata.record_dimension() ? block_.records : 0));
    out.lost = std::move(lost_);
    return out;
  }

 private:
  // Returns the new number of a variable, or kGlobal for kGlobal. Returns nullopt if the variable
  // is left out.
  std::optional<VarId> new_number(VarId owner) const {
    return owner < numbers_.size() ? numbers_[owner] : std::optional(owner);
  }

  bool leads(Type type) const {
    return TypeTable::is_extended(type) &&
           leads_[static_cast<std::uint32_t>(type) - TypeTable::kFirst];
  }

  Status of(VarId variable, const Status& status) const {
    return status.of_object("variable " + std::string(block_.metadata.variable(variable).name));
  }

  Status move_types(Extension* extension) const {
    extension->types = {};
    for (std::size_t i = 0; i < types_.size(); ++i) {
      ExtendedType type = types_[i];
      if (!type.name.empty()) type.name = map_(type.name).value_or(type.name);
      NMB_TRY(extension->types.add(std::move(type)).status());
    }
    return {};
  }

  Status move_properties(Extension* extension) {
    using PropertyNumber = hdf5::Property::Number;
    NMB_ASSIGN(std::vector<hdf5::Property> properties, hdf5::decode_properties(extension->hdf5));
    extension->hdf5.clear();
    add_spaces(&properties);
    for (hdf5::Property& p : properties) {
      if (p.number == PropertyNumber::kTypeAttributes) {
        NMB_ASSIGN(p.bytes, moved_type_attributes(p));
      }
      const std::optional<VarId> owner = new_number(p.owner);
      if (!owner || !move_place(&p)) continue;
      std::erase_if(p.links, [&](hdf5::Link& link) { return !move_link(&link); });
      std::erase_if(p.sources, [&](hdf5::VirtualSource& source) { return !move_source(&source); });
      std::vector<std::byte>& fill = p.creation.fill_value;
      if (p.number == PropertyNumber::kCreation && p.owner < block_.metadata.variable_count() &&
          leads(block_.metadata.variable(p.owner).type) && !fill.empty()) {
        std::uint64_t count = 1;
        bool is_lost = false;
        NMB_ASSIGN(fill, moved_values(block_.metadata.variable(p.owner).type, &count, fill, false,
                                      &is_lost));
      }
      p.owner = *owner;
      hdf5::append_property(p, &extension->hdf5);
    }
    return {};
  }

  // Returns the bytes of the property kTypeAttributes with the new paths.
  Result<std::vector<std::byte>> moved_type_attributes(const hdf5::Property& property) {
    if (std::ranges::count(leads_, true) == 0) return property.bytes;
    NMB_ASSIGN(const ClassicHeader header, hdf5::decode_type_attributes(property.bytes, types_));
    Metadata moved{Metadata::Names::kAsFound};
    NMB_TRY(header.metadata.try_each_attribute(kGlobal, [&](const Attribute& attribute) -> Status {
      if (!leads(attribute.type))
        return TypeTable::is_extended(attribute.type)
                   ? moved.def_extended_att(kGlobal, attribute.name, attribute.type,
                                            attribute.count, attribute.values)
                   : moved.def_att(kGlobal, attribute.name, attribute.type, attribute.values);
      std::uint64_t count = attribute.count;
      bool is_lost = false;
      NMB_ASSIGN(const std::vector<std::byte> values,
                 moved_values(attribute.type, &count, attribute.values, false, &is_lost));
      if (is_lost)
        lost_.push_back("references of attribute " + in_quotes(attribute.name) +
                        " of a named datatype");
      return moved.def_extended_att(kGlobal, attribute.name, attribute.type, count, values);
    }));
    return hdf5::encode_type_attributes(std::move(moved), types_);
  }

  // An attribute with one value is a scalar unless it has the property kSpace. Adds this property
  // to each attribute that was shortened to one value, so that it stays an array.
  void add_spaces(std::vector<hdf5::Property>* properties) const {
    using PropertyNumber = hdf5::Property::Number;
    for (const Shortened& one : shortened_) {
      const auto is_behind = [&](const hdf5::Property& p) {
        return std::tuple(p.owner + 1, p.attribute + 1, p.number) >=
               std::tuple(one.owner + 1, one.attribute + 1, PropertyNumber::kSpace);
      };
      const auto at = std::ranges::find_if(*properties, is_behind);
      const bool is_told = at != properties->end() && at->owner == one.owner &&
                           at->attribute == one.attribute && at->number == PropertyNumber::kSpace;
      if (one.left != 1 || is_told) continue;
      hdf5::Property space;
      space.owner = one.owner;
      space.attribute = one.attribute;
      space.space.lengths = space.space.maximum = {1};
      properties->insert(at, std::move(space));
    }
  }

  // Updates the number and the length of an attribute in a property that belongs to this attribute,
  // after attributes or their elements were left out. Returns false if this attribute was left out.
  bool move_place(hdf5::Property* p) const {
    if (p->attribute == hdf5::kNoAttribute) return true;
    std::uint32_t before = 0;
    for (const Shortened& one : shortened_) {
      if (one.owner != p->owner || one.attribute > p->attribute) continue;
      if (one.attribute < p->attribute) {
        before += one.left == 0;
        continue;
      }
      if (one.left == 0) return false;
      if (p->number == hdf5::Property::Number::kSpace && p->space.lengths.size() == 1)
        p->space.lengths[0] = one.left;
      if (p->number == hdf5::Property::Number::kSpace && p->space.maximum.size() == 1)
        p->space.maximum[0] = one.left;
    }
    p->attribute -= before;
    return true;
  }

  // Returns the path of the block's object `name`, or the path of the block if `name` is empty.
  std::string path_of(std::string_view name) const { return "/" + joined_path(block_.name, name); }

  // Returns the path of the block's object `name` under the block's new name.
  std::optional<std::string> new_path_of(std::string_view name) const {
    std::optional<std::string> path = map_(path_of(""));
    if (path && !path->ends_with('/') && !name.empty()) *path += '/';
    if (path) path->append(name);
    return path;
  }

  // Changes the path in a link. Returns false if the link must be left out.
  bool move_link(hdf5::Link* link) {
    using Kind = hdf5::LinkKind;
    if (link->kind == Kind::kVariable) {
      const std::optional<VarId> number = new_number(link->number);
      link->number = number.value_or(0);
      return number.has_value();
    }
    if (link->kind == Kind::kGroup) return map_(path_of(link->name)) == new_path_of(link->name);
    if (link->kind != Kind::kHard && (link->kind != Kind::kSoft || drops_targets_)) return true;
    const bool is_relative = link->kind == Kind::kSoft && !link->content.starts_with('/');
    std::optional<std::string> to = map_(is_relative ? path_of(link->content) : link->content);
    if (!to) lost_.push_back("link " + in_quotes(link->name));
    if (to && !(is_relative && to == new_path_of(link->content))) link->content = std::move(*to);
    return to.has_value();
  }

  // Changes the path of a source of a virtual data set. Returns false if the source must be left
  // out.
  bool move_source(hdf5::VirtualSource* source) {
    if (!source->is_in_own_file()) return true;
    std::optional<std::string> moved = hdf5::moved_source(source->data_set, map_);
    if (!moved) {
      lost_.push_back("source " + in_quotes(source->data_set) + " of a virtual data set");
      return false;
    }
    source->data_set = *std::move(moved);
    return true;
  }

  // Returns the changed values of an attribute, followed by the bytes to which they refer.
  // `is_list` is true for the HDF5 attributes that connect dimension scales with data sets. If such
  // an attribute has elements that refer to removed objects, these elements are left out, and
  // *count becomes the number of remaining elements.
  Result<std::vector<std::byte>> moved_values(Type type, std::uint64_t* count,
                                              std::span<const std::byte> values, bool is_list,
                                              bool* is_lost) const {
    const std::uint64_t size = types_.value_size(type);
    std::uint64_t array = 0;
    if (!checked_mul(*count, size, &array) || array > values.size())
      return Status(Code::kDamaged, "found " + std::to_string(values.size()) + " bytes for " +
                                        std::to_string(*count) + " values");
    const bool is_sequence = type_class(type) == TypeClass::kVlen;
    const auto move_all = [&](std::uint64_t wanted,
                              std::vector<bool>* leads_nowhere) -> Result<std::vector<std::byte>> {
      std::vector<std::byte> out;
      const MemorySource region(values);
      ValueMover mover(types_, region, map_, wanted * size, is_list);
      for (std::uint64_t i = 0; i < *count; ++i) {
        if (leads_nowhere->size() > i && (*leads_nowhere)[i]) continue;
        const auto from = values.subspan(i * size, size);
        out.insert(out.end(), from.begin(), from.end());
        NMB_TRY(mover.move(type, out.data() + out.size() - size));
        const bool is_none = mover.take_lost();
        *is_lost = *is_lost || is_none;
        if (leads_nowhere->size() <= i) leads_nowhere->push_back(is_none);
      }
      const std::vector<std::byte> rest = mover.take();
      out.insert(out.end(), rest.begin(), rest.end());
      return out;
    };
    std::vector<bool> leads_nowhere;
    NMB_ASSIGN(std::vector<std::byte> out, move_all(*count, &leads_nowhere));
    if (!is_list || is_sequence || !*is_lost) return out;
    // The bytes to which elements refer begin after the last element, so they begin earlier if
    // elements were left out. Therefore the remaining elements are moved again.
    const auto left = static_cast<std::uint64_t>(std::ranges::count(leads_nowhere, false));
    NMB_ASSIGN(out, move_all(left, &leads_nowhere));
    *count = left;
    return out;
  }

  std::optional<TypeClass> type_class(Type type) const {
    if (!TypeTable::is_extended(type)) return std::nullopt;
    return types_.at(type).type_class;
  }

  Status move_attributes(VarId owner, Metadata* to) {
    std::uint32_t number = 0;
    return block_.metadata.try_each_attribute(owner, [&](const Attribute& attribute) {
      return move_attribute(owner, number++, attribute, to);
    });
  }

  // Returns whether DIMENSION_LIST of a variable has references to removed objects.
  Result<bool> has_lost_scales(VarId owner) const {
    const std::optional<Attribute> list = block_.metadata.find_attribute(owner, kList);
    if (!list || !leads(list->type)) return false;
    std::uint64_t count = list->count;
    bool is_lost = false;
    NMB_TRY(moved_values(list->type, &count, list->values, true, &is_lost).status());
    return is_lost;
  }

  std::string references_of(VarId owner, const Attribute& attribute) const {
    std::string name(attribute.name);
    if (owner != kGlobal) name = std::string(block_.metadata.variable(owner).name) + "@" + name;
    return "references of attribute " + in_quotes(name);
  }

  Status move_attribute(VarId owner, std::uint32_t number, const Attribute& attribute,
                        Metadata* to) {
    const VarId new_owner = *new_number(owner);
    // netCDF does not read a variable if only some of its dimensions have a scale.
    if (drops_targets_ && (attribute.name == kList || attribute.name == kCoordinates)) {
      NMB_ASSIGN(const bool is_lost, has_lost_scales(owner));
      if (is_lost && attribute.name == kList) lost_.push_back(references_of(owner, attribute));
      if (is_lost) {
        shortened_.push_back({owner, number, 0});
        return {};
      }
    }
    if (!TypeTable::is_extended(attribute.type))
      return to->def_att(new_owner, attribute.name, attribute.type, attribute.values);
    if (!leads(attribute.type))
      return to->def_extended_att(new_owner, attribute.name, attribute.type, attribute.count,
                                  attribute.values);
    const bool is_list = attribute.name == kScaleUsers || attribute.name == kList;
    std::uint64_t count = attribute.count;
    bool is_lost = false;
    const Result<std::vector<std::byte>> values =
        moved_values(attribute.type, &count, attribute.values, is_list, &is_lost);
    if (!values.ok()) return values.status().of_object("attribute " + std::string(attribute.name));
    if (is_lost && !is_list) lost_.push_back(references_of(owner, attribute));
    if (count != attribute.count) shortened_.push_back({owner, number, count});
    if (count == 0 && attribute.count > 0) return {};
    return to->def_extended_att(new_owner, attribute.name, attribute.type, count, *values);
  }

  // Writes the values of the variables in the order of the variables.
  Result<std::shared_ptr<const ByteSource>> move_values(Metadata* metadata, Extension* extension) {
    const Metadata& was = block_.metadata;
    bool any = drops_variables_;
    for (const Storage& storage : extension->storage)
      any =
          any || (storage.kind == StorageKind::kHeap && leads(was.variable(storage.variable).type));
    if (!any) return std::shared_ptr<const ByteSource>();
    if (was.record_dimension()) return Status(Code::kUnsupported, "found references in records");
    for (VarId v = 0; v < was.variable_count(); ++v) {
      if (!numbers_[v]) continue;
      const auto found = std::ranges::find(extension->storage, v, &Storage::variable);
      Storage* const storage = found == extension->storage.end() ? nullptr : &*found;
      const std::uint64_t length = was.slice_bytes(v).value_or(0);
      const std::uint64_t from = was.begin(v) - block_.layout.header_length;
      end_ = value_begin(end_, storage);
      metadata->set_begin(*numbers_[v], end_);
      if (length == 0) continue;
      if (storage && storage->kind == StorageKind::kHeap && leads(was.variable(v).type))
        NMB_TRY(of(v, move_region(v, from, length, storage)));
      else
        add_run({end_, length, from, 0});
    }
    std::erase_if(extension->storage, [&](const Storage& one) { return !numbers_[one.variable]; });
    for (Storage& one : extension->storage) one.variable = *numbers_[one.variable];
    return Source(source_of(
        form::Spliced{{block_.extent, spool_}, std::move(runs_), end_, block_.extent->name()}));
  }

  Status move_region(VarId v, std::uint64_t from, std::uint64_t length, Storage* storage) {
    const Type type = block_.metadata.variable(v).type;
    const std::uint64_t size = types_.value_size(type);
    const std::optional<std::uint64_t> array = block_.metadata.array_bytes(v);
    if (!array || *array > length)
      return Status(Code::kDamaged,
                    "found " + std::to_string(length) + " bytes, fewer than the variable needs");
    const Source region = source_of(
        form::Spliced{{block_.extent}, {{0, length, from, 0}}, length, block_.extent->name()});
    ValueMover mover(types_, *region, map_, *array);
    const std::uint64_t begin = end_, spooled = spool_->size();
    // The array of values comes first; the bytes to which the values refer come after it.
    std::uint64_t written = *array;
    const auto flush = [&]() -> Status {
      const std::vector<std::byte> bytes = mover.take();
      NMB_TRY(spool_->write_at(spooled + written, bytes));
      written += bytes.size();
      return {};
    };
    const std::uint64_t step = std::max<std::uint64_t>(1, kMoveWindow / size) * size;
    std::vector<std::byte> values;
    for (std::uint64_t at = 0; at < *array; at += step) {
      values.resize(static_cast<std::size_t>(std::min(step, *array - at)));
      NMB_TRY(region->read_at(at, values));
      for (std::size_t i = 0; i < values.size(); i += size) {
        NMB_TRY(mover.move(type, values.data() + i));
        if (mover.held() >= kMoveWindow) NMB_TRY(flush());
      }
      NMB_TRY(spool_->write_at(spooled + at, values));
    }
    NMB_TRY(flush());
    if (mover.take_lost())
      lost_.push_back("references of variable " + in_quotes(block_.metadata.variable(v).name));
    storage->region_length = mover.end();
    add_run({begin, mover.end(), spooled, 1});
    return {};
  }

  void add_run(const form::Spliced::SourceRun& run) {
    runs_.push_back(run);
    end_ = run.end();
  }

  // An attribute that lost elements. `attribute` is the attribute's number among the attributes of
  // the owner.
  struct Shortened {
    VarId owner = 0;
    std::uint32_t attribute = 0;
    std::uint64_t left = 0;  // number of remaining elements; 0 if the attribute was left out
  };

  const Dataset& block_;
  const PathMap& map_;
  const std::shared_ptr<SpoolFile>& spool_;
  const TypeTable& types_;
  const std::vector<bool> leads_;
  const bool drops_variables_, drops_targets_;
  std::vector<std::optional<VarId>> numbers_;  // the new number of each variable that is kept
  std::uint64_t end_ = 0;                      // length of the new extent so far
  std::vector<form::Spliced::SourceRun> runs_;
  std::vector<Shortened> shortened_;
  std::vector<std::string> lost_;
};

// Returns whether the block has references, named datatypes, sources in its own file, or a link for
// which `counts` returns true.
Result<bool> has_any(const Metadata& metadata, bool (*counts)(const hdf5::Link& link)) {
  const auto& extension = metadata.extension();
  if (!extension) return false;
  for (std::size_t i = 0; i < extension->types.size(); ++i)
    if (extension->types[i].type_class == TypeClass::kReference ||
        !extension->types[i].name.empty())
      return true;
  using Number = hdf5::Property::Number;
  constexpr Number kPaths[] = {Number::kLinks, Number::kVirtual};
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(extension->hdf5, kPaths));
  return std::ranges::any_of(properties, [&](const hdf5::Property& p) {
    return std::ranges::any_of(p.links, counts) ||
           std::ranges::any_of(p.sources, &hdf5::VirtualSource::is_in_own_file);
  });
}

}  // namespace

Result<bool> has_paths(const Metadata& metadata) { return has_any(metadata, leads_to_object); }

Result<bool> refers_to_objects(const Metadata& metadata) {
  return has_any(metadata,
                 [](const hdf5::Link& link) { return link.kind != hdf5::LinkKind::kVariable; });
}

Result<MovedContent> move_paths(const Dataset& block, const PathMove& move,
                                const std::shared_ptr<SpoolFile>& spool) {
  NMB_ASSIGN(const bool any, has_paths(block.metadata));
  if (!any || move.is_none()) return MovedContent();
  const PathMap map = [&](std::string_view path) { return std::optional(move.moved(path)); };
  return PathMover(block, map, spool).run();
}

Result<MovedContent> map_paths(const Dataset& block, const PathMap& map,
                               const std::shared_ptr<SpoolFile>& spool) {
  if (!block.metadata.extension()) return MovedContent();
  return PathMover(block, map, spool).run();
}

Result<MovedContent> drop_lost_targets(const Dataset& block,
                                       const std::function<bool(std::string_view path)>& exists,
                                       const std::shared_ptr<SpoolFile>& spool) {
  if (!block.metadata.extension()) return MovedContent();
  const PathMap map = [&](std::string_view path) {
    return exists(path) ? std::optional(std::string(path)) : std::nullopt;
  };
  return PathMover(block, map, spool, {}, true).run();
}

Result<MovedContent> keep_variables(const Dataset& block, const std::vector<bool>& kept,
                                    const PathMap& map, const std::shared_ptr<SpoolFile>& spool) {
  return PathMover(block, map, spool, kept).run();
}

}  // namespace nmb
