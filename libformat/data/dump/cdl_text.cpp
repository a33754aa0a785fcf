#include "dump/cdl_text.h"

#include <algorithm>

#include "dump/number_text.h"

namespace nmb {
namespace {

void put_hex(TextOut& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.put("\\%");
    out.put(kDigits[byte >> 4]);
    out.put(kDigits[byte & 15]);
  }
}

void put_octal(TextOut& out, std::string_view bytes) {
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.put('\\');
    for (int shift : {6, 3, 0}) out.put(static_cast<char>('0' + (byte >> shift & 7)));
  }
}

std::string_view suffix(Type type) {
  switch (type) {
    case Type::kByte:
      return "b";
    case Type::kShort:
      return "s";
    case Type::kFloat:
      return "f";
    case Type::kUByte:
      return "UB";
    case Type::kUShort:
      return "US";
    case Type::kUInt:
      return "U";
    case Type::kInt64:
      return "LL";
    case Type::kUInt64:
      return "ULL";
    default:
      return "";
  }
}

}  // namespace

void put_cdl_name(TextOut& out, std::string_view name, CdlForm form, bool is_dataset) {
  while (!name.empty() && name.back() == '\0') name.remove_suffix(1);
  constexpr std::string_view kEscaped = " !\"#$%&'()*,:;<=>?[\\]^`{|}~";
  if (!name.empty() && name[0] >= '0' && name[0] <= '9') out.put('\\');
  const auto put = [&](std::string_view character, bool valid) {
    const bool exact = form == CdlForm::kExact;
    if (!valid || is_control(character) || (is_dataset && exact && character == "{"))
      return put_hex(out, character);
    if (!exact && character == "%") return out.put('%');
    if (character.size() == 1 && kEscaped.find(character[0]) != kEscaped.npos) out.put('\\');
    out.put(character);
  };
  Utf8Splitter splitter;
  splitter.feed(name, put);
  splitter.finish(put);
}

void CdlString::put_line_break() {
  if (broken_ && !line_break_.empty()) {
    out_.put('"');
    out_.put(line_break_);
    out_.put('"');
  }
  broken_ = false;
}

void CdlString::put_pending() {
  put_line_break();
  for (; nuls_ > 0 && out_.status().ok(); --nuls_) out_.put("\\000");
}

void CdlString::put(std::string_view character, bool valid) {
  if (character[0] == '\0') {
    ++nuls_;
    return;
  }
  put_pending();
  if (!valid) return form_ == CdlForm::kExact ? put_octal(out_, character) : out_.put(character);
  switch (character[0]) {
    case '\b':
      return out_.put("\\b");
    case '\f':
      return out_.put("\\f");
    case '\n':
      broken_ = true;
      return out_.put("\\n");
    case '\r':
      return out_.put("\\r");
    case '\t':
      return out_.put("\\t");
    case '\v':
      return out_.put("\\v");
    case '\\':
      return out_.put("\\\\");
    case '\'':
      return out_.put("\\'");
    case '"':
      return out_.put("\\\"");
    default:
      return is_control(character) ? put_octal(out_, character) : out_.put(character);
  }
}

void CdlString::add(std::string_view bytes) {
  splitter_.feed(bytes, [&](std::string_view character, bool valid) { put(character, valid); });
}

void CdlString::close() {
  splitter_.finish([&](std::string_view character, bool valid) { put(character, valid); });
  if (keep_nuls_ && nuls_ > 0) put_pending();
  if (form_ == CdlForm::kNcdump) put_line_break();
  out_.put('"');
}

void put_cdl_constant(TextOut& out, Type type, const std::byte* value, CdlForm form) {
  const NumberText number(type, value,
                          form == CdlForm::kExact ? Digits::kShortest : Digits::kNcdump);
  const std::string_view text = number.text();
  if ((type == Type::kFloat || type == Type::kDouble) && !number.is_special() &&
      text.find('.') == text.npos) {
    // The decimal point marks a floating-point constant.
    const std::size_t mantissa = std::min(text.find('e'), text.size());
    out.put(text.substr(0, mantissa));
    out.put('.');
    out.put(text.substr(mantissa));
  } else {
    out.put(text);
  }
  out.put(suffix(type));
}

void put_ncdump_part(TextOut& out, Type type, const std::byte* value) {
  const NumberText number(type, value, Digits::kNcdump);
  out.put(number.text());
  if (number.is_special()) out.put(suffix(type));
}

}  // namespace nmb
