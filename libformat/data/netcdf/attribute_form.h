// AttributeForm: how HDF5 stores an attribute whose value is that of a classic attribute. A united
// block keeps the form, so that programs find the type, the byte order and the shape of the inputs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/extension.h"
#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb {

struct AttributeForm {
  VarId owner = kGlobal;  // in the classic dataset
  std::string name;
  // The type is the last one: a number that is little-endian, or a string that netCDF would not use
  // for characters. If the table is empty, the type is that of the classic dataset.
  TypeTable types{};
  bool is_scalar = false;  // a number without dimensions; characters always are one string

  bool is_string() const {
    return types.size() > 0 && types.at(types.last()).type_class == TypeClass::kString;
  }
  // Returns whether only the byte order is not that of a classic attribute.
  bool is_byte_order() const { return !is_scalar && !is_string(); }
};

// Returns the form of an attribute, or nullopt if a united block stores such an attribute in this
// form anyway, or cannot keep the form. The attribute must not have several dimensions. classic:
// the attribute in the classic dataset.
std::optional<AttributeForm> form_of_attribute(const TypeTable& types, const Attribute& attribute,
                                               bool is_scalar, const Attribute& classic);

// An attribute in its form.
struct FormedAttribute {
  Type type = Type::kByte;  // in the table `types`
  std::uint64_t count = 0;
  std::vector<std::byte> values;
  bool is_scalar = false;
};
// Returns a classic attribute in a form; nullopt if the form is that of another type. types: gets
// the type. Errors: kLimit.
Result<std::optional<FormedAttribute>> formed(const AttributeForm& form, const Attribute& classic,
                                              TypeTable* types);

}  // namespace nmb
