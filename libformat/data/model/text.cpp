#include "model/text.h"

#include <charconv>

#include "model/utf8_split.h"

namespace nmb {

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

// Returns whether the character can change the order of text or break a line: U+061C, U+200E,
// U+200F, U+2028 to U+202E, U+2066 to U+2069.
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

std::optional<std::string> bytes_of_printable(std::string_view text) {
  constexpr std::string_view kLetters = "\\tnr", kMeanings = "\\\t\n\r";
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const char letter = ++at < text.size() ? text[at] : '\0';
    unsigned byte = 0;
    const char* const hex = text.data() + at + 1;
    if (letter == 'x' && text.size() - at > 2 &&
        std::from_chars(hex, hex + 2, byte, 16).ptr == hex + 2) {
      out += static_cast<char>(byte);
      at += 2;
    } else if (const std::size_t which = kLetters.find(letter); which != kLetters.npos) {
      out += kMeanings[which];
    } else {
      return std::nullopt;
    }
  }
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
      // The byte is not ASCII, so write a character from U+EF80 to U+EFFF.
      out += '\xee';
      out += static_cast<char>(0xBC + (byte >> 6));
      out += static_cast<char>(0x80 + (byte & 0x3f));
    }
  });
  return out;
}

std::string bytes_of_json_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, bool valid) {
    if (!valid || !is_byte_code(character)) {
      out += character;
      return;
    }
    const auto upper = static_cast<unsigned char>(character[1]) - 0xBC;
    out += static_cast<char>(upper << 6 | (static_cast<unsigned char>(character[2]) & 0x3f));
  });
  return out;
}

}  // namespace nmb
