#include "dump/json_text.h"

#include "dump/number_text.h"

namespace nmb {
namespace {

// Writes \uXXYY; `high` is XX and `low` the byte YY.
void put_code(TextOut& out, std::string_view high, unsigned low) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.put("\\u");
  out.put(high);
  out.put(kDigits[low >> 4 & 15]);
  out.put(kDigits[low & 15]);
}

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

}  // namespace

void JsonString::put(std::string_view character, bool valid) {
  if (!valid || is_byte_code(character)) {
    for (std::size_t i = 0; i < character.size(); ++i) put_code(out_, "ef", byte_at(character, i));
    return;
  }
  if (is_control(character)) {
    // For U+0080 to U+009F, the second byte of the UTF-8 form is the low byte of the code point.
    return put_code(out_, "00", byte_at(character, character.size() - 1));
  }
  if (character == "\"" || character == "\\") out_.put('\\');
  out_.put(character);
}

void JsonString::add(std::string_view bytes) {
  splitter_.feed(bytes, [&](std::string_view character, bool valid) { put(character, valid); });
}

void JsonString::close() {
  splitter_.finish([&](std::string_view character, bool valid) { put(character, valid); });
  out_.put('"');
}

void put_json_string(TextOut& out, std::string_view text) {
  JsonString string(out);
  string.add(text);
  string.close();
}

void put_json_number(TextOut& out, Type type, const std::byte* value) {
  const NumberText number(type, value);
  if (number.is_special()) out.put('"');
  out.put(number.text());
  if (number.is_special()) out.put('"');
}

}  // namespace nmb
