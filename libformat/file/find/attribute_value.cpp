#include "find/attribute_value.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "dump/dump.h"
#include "model/values.h"
#include "netcdf/classic_type.h"
#include "wire/joined_text.h"

namespace nmb {

Result<TagValue> attribute_value(const Metadata& metadata, const Attribute& attribute) {
  NMB_ASSIGN(std::optional<std::string> text, attribute_text(metadata, attribute));
  if (text) return TagValue(*std::move(text));
  std::vector<std::byte> value(attribute.values.begin(), attribute.values.end());
  std::optional<Type> type = attribute.type;
  if (TypeTable::is_extended(*type)) {
    const TypeTable& types = metadata.extension()->types;
    const auto number = types.at(*type).type_class == TypeClass::kFloat && attribute.count == 1
                            ? classic_type(types, *type)
                            : std::nullopt;
    if (number) {
      std::vector<std::byte> converted(number->value_bytes());
      ClassicValues(types, *type, *number).convert(value, converted);
      value = std::move(converted);
      type = number->type;
    } else {
      if (types.is_swapped(*type)) std::ranges::reverse(value);
      type = types.classic(*type);
    }
  }
  if (!type || type == Type::kChar || attribute.count != 1)
    return Status(Code::kUnsupported,
                  joined_text(attribute.count, attribute.count == 1 ? " value" : " values",
                              " of type ", type_text(metadata, attribute.type)));
  const auto as = [&]<class T>(T number) {
    (void)convert_from_external(*type, value.data(), 1, memory_type_of<T>(), &number);
    return TagValue(number);
  };
  if (type == Type::kFloat || type == Type::kDouble) return as(double{});
  return type == Type::kUInt64 ? as(std::uint64_t{}) : as(std::int64_t{});
}

}  // namespace nmb
