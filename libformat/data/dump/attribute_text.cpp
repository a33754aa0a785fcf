// Writes attributes, types and dimensions as text (see dump/dump.h).
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dump/dump.h"
#include "model/extension.h"
#include "model/heap_value.h"

namespace nmb {

Result<std::optional<std::string>> attribute_text(const Metadata& metadata,
                                                  const Attribute& attribute) {
  const auto trimmed = [](std::span<const std::byte> bytes, char pad) {
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (text.ends_with(pad)) text.pop_back();
    return std::optional(std::move(text));
  };
  const auto none = std::optional<std::string>();
  if (attribute.type == Type::kChar) return trimmed(attribute.values, '\0');
  if (!TypeTable::is_extended(attribute.type)) return none;
  const TypeTable& types = metadata.extension()->types;
  // Strings of one byte are shown like values of type char.
  if (types.classic(attribute.type) == Type::kChar) return trimmed(attribute.values, '\0');
  const ExtendedType& type = types.at(attribute.type);
  if (type.type_class != TypeClass::kString || attribute.count != 1) return none;
  if (type.variable_length) {
    const HeapValue value = HeapValue::load(attribute.values.data());
    std::uint64_t left = attribute.values.size();
    NMB_ASSIGN(const std::vector<std::byte> text,
               value.read(MemorySource(attribute.values), 1, &left));
    return trimmed(text, '\0');
  }
  std::span<const std::byte> bytes = attribute.values;
  if (type.padding == StringPadding::kNullTerminated)
    bytes = bytes.first(
        static_cast<std::size_t>(std::ranges::find(bytes, std::byte{0}) - bytes.begin()));
  return trimmed(bytes, type.padding == StringPadding::kSpacePadded ? ' ' : '\0');
}

std::string type_text(const Metadata& metadata, Type type) {
  return TypeTable::is_extended(type) ? metadata.extension()->types.text(type)
                                      : std::string(type_name(type));
}

}  // namespace nmb
