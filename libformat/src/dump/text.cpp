// Names as text (see nmb/text.h).
#include "nmb/text.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "model/heap_value.h"
#include "model/utf8_split.h"
#include "nmb/dump.h"
#include "nmb/extension.h"

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
  // Strings of one byte are characters.
  if (types.classic(attribute.type) == Type::kChar) return trimmed(attribute.values, '\0');
  const ExtendedType& type = types.at(attribute.type);
  if (type.type_class != TypeClass::kString || attribute.count != 1) return none;
  if (type.variable_length) {
    const HeapValue value = HeapValue::load(attribute.values.data());
    NMB_ASSIGN(const std::vector<std::byte> text, value.read(MemorySource(attribute.values), 1));
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

bool may_grow(const Metadata& metadata, DimId dimension) {
  if (metadata.dimension(dimension).is_record()) return true;
  if (!metadata.extension()) return false;
  for (const Unlimited& u : metadata.extension()->unlimited)
    if (u.dimension == dimension) return true;
  return false;
}

namespace {

void put_hex(std::string* out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *out += "\\x";
    *out += kDigits[byte >> 4];
    *out += kDigits[byte & 15];
  }
}

// U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool rearranges_text(std::string_view character) {
  if (character == "\u061c") return true;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

template <class Visit>
void for_each_character(std::string_view bytes, Visit visit) {
  Utf8Splitter splitter;
  splitter.feed(bytes, visit);
  splitter.finish(visit);
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for_each_character(bytes, [&](std::string_view character, bool valid) {
    if (character == "\\")
      out += "\\\\";
    else if (character == "\t")
      out += "\\t";
    else if (character == "\n")
      out += "\\n";
    else if (character == "\r")
      out += "\\r";
    else if (!valid || is_control(character) || rearranges_text(character))
      put_hex(&out, character);
    else
      out += character;
  });
  return out;
}

std::string json_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for_each_character(bytes, [&](std::string_view character, bool valid) {
    if (valid && !is_byte_code(character)) {
      out += character;
      return;
    }
    for (const char c : character) {
      const auto byte = static_cast<unsigned char>(c);
      // U+EF80 to U+EFFF: such bytes are never ASCII.
      out += '\xee';
      out += static_cast<char>(0xBC + (byte >> 6));
      out += static_cast<char>(0x80 + (byte & 0x3f));
    }
  });
  return out;
}

}  // namespace nmb
