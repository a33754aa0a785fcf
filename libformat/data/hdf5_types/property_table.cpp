#include "hdf5_types/property_table.h"

#include <algorithm>

#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

Result<PropertyTable> PropertyTable::of(const Metadata& metadata) {
  PropertyTable out;
  NMB_ASSIGN(out.properties_, decode_properties(metadata.extension()->hdf5));
  NMB_TRY(out.index(metadata));
  return out;
}

Status PropertyTable::index(const Metadata& metadata) {
  for (std::size_t i = 0; i < properties_.size(); ++i) {
    const Property& p = properties_[i];
    const std::string which = joined_text(
        "property ", static_cast<unsigned>(p.number), " of ",
        p.owner == kGlobal ? std::string("the group") : joined_text("variable ", p.owner));
    if (p.owner != kGlobal && p.owner >= metadata.variable_count())
      return failure(Code::kDamaged, "found ", which, ", but the block has only ",
                     metadata.variable_count(), " variables");
    if (p.attribute != kNoAttribute && p.attribute >= metadata.attribute_count(p.owner))
      return failure(Code::kDamaged, "found ", which, ", attribute ", p.attribute,
                     ", but the number of attributes is ", metadata.attribute_count(p.owner));
    if (p.number == Property::Number::kTypeAttributes || p.number == Property::Number::kTypeComment)
      continue;  // these properties belong to named datatypes
    if (!places_.emplace(std::tuple(p.owner, p.attribute, static_cast<std::uint16_t>(p.number)), i)
             .second)
      return failure(Code::kDamaged, "found ", which, " twice");
  }
  return {};
}

const Property* PropertyTable::find(Property::Number number, std::uint32_t owner,
                                    std::uint32_t attribute) const {
  const auto place = places_.find({owner, attribute, static_cast<std::uint16_t>(number)});
  return place == places_.end() ? nullptr : &properties_[place->second];
}

Order PropertyTable::order(std::uint32_t owner) const {
  const Property* const p = find(Property::Number::kOrder, owner);
  return p ? p->order : Order();
}

Result<Space> PropertyTable::space(const Metadata& metadata, std::uint64_t records,
                                   VarId variable) const {
  const Variable v = metadata.variable(variable);
  Space space;
  const Extension* const extension = metadata.extension().get();
  for (const DimId id : v.dimensions) {
    const Dimension dimension = metadata.dimension(id);
    const std::uint64_t length = dimension.is_record() ? records : dimension.length;
    const bool grows =
        dimension.is_record() ||
        (extension && std::ranges::any_of(extension->unlimited,
                                          [&](const Unlimited& u) { return u.dimension == id; }));
    space.lengths.push_back(length);
    space.maximum.push_back(grows ? kUnlimitedLength : length);
  }
  if (v.dimensions.empty()) space.space_class = SpaceClass::kScalar;
  const Property* const p = find(Property::Number::kSpace, variable);
  if (!p) return space;
  if (p->space.space_class != SpaceClass::kNull &&
      (p->space.space_class != space.space_class || p->space.lengths != space.lengths))
    return failure(Code::kDamaged, "found a space of ", p->space.lengths.size(),
                   " dimensions, whose class or lengths differ from the variable's");
  return p->space;
}

Space usual_space(const Attribute& attribute) {
  if (attribute.count == 1) return Space{SpaceClass::kScalar, {}, {}};
  return Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
}

CharacterSet usual_character_set(std::string_view name) {
  const bool ascii = std::ranges::all_of(name, [](char c) { return (c & 0x80) == 0; });
  return ascii ? CharacterSet::kAscii : CharacterSet::kUtf8;
}

Result<Space> PropertyTable::space(std::uint32_t owner, std::uint32_t number,
                                   const Attribute& attribute) const {
  const Property* const p = find(Property::Number::kSpace, owner, number);
  if (!p) return usual_space(attribute);
  std::uint64_t count = p->space.space_class == SpaceClass::kNull ? 0 : 1;
  bool fits = true;
  for (const std::uint64_t length : p->space.lengths)
    fits = fits && checked_mul(count, length, &count);
  if (p->space.space_class != SpaceClass::kSimple) fits = fits && p->space.lengths.empty();
  if (!fits || count != attribute.count)
    return failure(Code::kDamaged, "attribute ", attribute.name, ": found a space of ", count,
                   " values, expected ", attribute.count);
  return p->space;
}

}  // namespace nmb::hdf5
