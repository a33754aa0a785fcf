#include "netcdf/attribute_form.h"

#include <algorithm>
#include <cstdint>

#include "model/heap_value.h"
#include "model/values.h"
#include "wire/endian.h"

namespace nmb {

namespace {

// Returns whether netCDF stores characters as strings of this type.
bool is_usual_text(const ExtendedType& type) {
  return !type.variable_length && type.character_set == CharacterSet::kAscii &&
         type.padding == StringPadding::kNullTerminated;
}

// Returns a string of variable length, followed by its bytes.
std::vector<std::byte> heap_string(std::span<const std::byte> text) {
  std::vector<std::byte> values(TypeTable::kHeapValue);
  store_le(values.data(), std::uint64_t{text.size()});
  store_le(values.data() + 8, std::uint64_t{values.size()});
  values.insert(values.end(), text.begin(), text.end());
  return values;
}

}  // namespace

std::optional<AttributeForm> form_of_attribute(const TypeTable& types, const Attribute& attribute,
                                               bool is_scalar, const Attribute& classic) {
  AttributeForm form;
  form.name = attribute.name;
  form.is_scalar = is_scalar;
  if (attribute.count == 0) return std::nullopt;
  const bool is_text = classic.type == Type::kChar;
  if (TypeTable::is_extended(attribute.type)) {
    const ExtendedType& type = types.at(attribute.type);
    const bool is_string = type.type_class == TypeClass::kString;
    const bool is_number = !is_string && types.classic(attribute.type) == classic.type;
    if (!type.name.empty() || (!is_number && !(is_string && is_text && attribute.count == 1)))
      return std::nullopt;
    // The fill value of unwritten elements must have the type of the variable.
    const bool is_usual =
        is_string ? is_usual_text(type) && form.is_scalar : !types.is_swapped(attribute.type);
    if (!is_usual && form.name != "_FillValue") form.types = types.only(attribute.type);
  }
  if (is_text && form.types.size() == 0) return std::nullopt;
  if (form.types.size() == 0 && !form.is_scalar) return std::nullopt;
  return form;
}

Result<std::optional<FormedAttribute>> formed(const AttributeForm& form, const Attribute& classic,
                                              TypeTable* types) {
  FormedAttribute out{
      classic.type, classic.count, {classic.values.begin(), classic.values.end()}, form.is_scalar};
  if (classic.count == 0) return std::optional<FormedAttribute>();
  if (form.types.size() == 0) {
    if (classic.type == Type::kChar || classic.count != 1) return std::optional<FormedAttribute>();
    return std::optional(std::move(out));
  }
  const Type last = form.types.last();
  if (!form.is_string()) {
    if (form.types.classic(last) != classic.type || (form.is_scalar && classic.count != 1))
      return std::optional<FormedAttribute>();
    const auto size = static_cast<std::ptrdiff_t>(type_size(classic.type));
    for (auto at = out.values.begin(); at != out.values.end(); at += size)
      std::reverse(at, at + size);
    NMB_ASSIGN(out.type, types->add_from(form.types, last));
    return std::optional(std::move(out));
  }
  if (classic.type != Type::kChar) return std::optional<FormedAttribute>();
  out.count = 1;
  ExtendedType type = form.types.at(last);
  if (type.variable_length) {
    if (std::ranges::count(out.values, std::byte{0}) > 0) return std::optional<FormedAttribute>();
    out.values = heap_string(classic.values);
  } else {
    type.size = std::max<std::uint64_t>(type.size, out.values.size());
    const bool has_spaces = type.padding == StringPadding::kSpacePadded;
    out.values.resize(type.size, has_spaces ? std::byte{' '} : std::byte{0});
  }
  TypeTable own;
  NMB_TRY(own.add(std::move(type)).status());
  NMB_ASSIGN(out.type, types->add_from(own, own.last()));
  return std::optional(std::move(out));
}

}  // namespace nmb
