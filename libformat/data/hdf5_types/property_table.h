// PropertyTable finds the properties of a block's objects in the block's hdf5 section, or the
// default of a missing property (spec/hdf5_section.md).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

class PropertyTable {
 public:
  // Creates an object for a block without properties.
  PropertyTable() = default;
  // Decodes the hdf5 section of a block of kind 6. Errors: kDamaged if the section breaks R-H5-1,
  // has a property of an object that does not exist, or has a property twice.
  NMB_EXPORT static Result<PropertyTable> of(const Metadata& metadata);

  // Returns a property, or nullptr if it is not set and its default value applies.
  NMB_EXPORT const Property* find(Property::Number number, std::uint32_t owner = kGlobal,
                                  std::uint32_t attribute = kNoAttribute) const;
  const std::vector<Property>& all() const { return properties_; }
  NMB_EXPORT Order order(std::uint32_t owner) const;
  // Returns the dataspace of a variable. records: length of the record dimension. Errors: kDamaged
  // if the stored dataspace contradicts the variable's dimensions.
  NMB_EXPORT Result<Space> space(const Metadata& metadata, std::uint64_t records,
                                 VarId variable) const;
  // Returns the dataspace of an attribute. number: index among the attributes of the owner. Errors:
  // kDamaged if the stored dataspace contradicts the number of values.
  NMB_EXPORT Result<Space> space(std::uint32_t owner, std::uint32_t number,
                                 const Attribute& attribute) const;

 private:
  Status index(const Metadata& metadata);

  std::vector<Property> properties_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, std::size_t> places_;
};

// Returns the dataspace of an attribute for which no dataspace is stored.
NMB_EXPORT Space usual_space(const Attribute& attribute);
// Returns the character set of a name for which none is stored: kUtf8 if a byte of the name is
// above 127, otherwise kAscii.
NMB_EXPORT CharacterSet usual_character_set(std::string_view name);

}  // namespace nmb::hdf5
