#include "dump/value_text.h"

#include <algorithm>

#include "dump/cdl_text.h"
#include "wire/joined_text.h"

namespace nmb {
namespace {

constexpr std::size_t kMaxBytes = 180;

std::string_view unit(const Attribute& attribute) {
  return attribute.type == Type::kChar ? "byte" : "value";
}

std::string constants(const Attribute& attribute, std::uint64_t from, std::uint64_t count) {
  std::string text;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return Status();
  };
  TextOut out(sink);
  const std::size_t size = type_size(attribute.type);
  const auto values = attribute.values.subspan(from * size, count * size);
  if (attribute.type == Type::kChar) {
    CdlString string(out, "", true);
    string.add({reinterpret_cast<const char*>(values.data()), values.size()});
    string.close();
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) out.put(", ");
      put_cdl_constant(out, attribute.type, values.data() + i * size);
    }
  }
  (void)out.finish().ok();  // this sink never fails
  return text;
}

struct Excerpt {
  std::string text;
  bool whole;
};

Excerpt excerpt(const Attribute& attribute, std::uint64_t from) {
  const bool is_text = attribute.type == Type::kChar;
  if (attribute.count == 0) return {is_text ? "\"\"" : "no values", true};
  from = std::min(from, attribute.count);
  // Go back to the first byte of the UTF-8 character.
  for (int i = 0; is_text && i < 3 && from > 0 && from < attribute.count; ++i)
    if ((attribute.values[from] & std::byte{0xC0}) == std::byte{0x80}) --from;

  std::uint64_t shown = std::min<std::uint64_t>(attribute.count - from, kMaxBytes);
  std::string text = constants(attribute, from, shown);
  while (text.size() > kMaxBytes) {
    shown = shown * 3 / 4;
    text = constants(attribute, from, shown);
  }
  if (shown == attribute.count) return {text, true};
  const std::string gap = is_text ? "..." : ", ...";
  if (from > 0) text = (is_text ? "..." : "..., ") + text;
  if (from + shown < attribute.count) text += gap;
  return {joined_text(text, " (", attribute.count, " ", unit(attribute), "s)"), false};
}

// Returns the index of the first value that differs.
std::uint64_t first_difference(const Attribute& a, const Attribute& b) {
  const auto [at, other] = std::ranges::mismatch(a.values, b.values);
  return static_cast<std::uint64_t>(at - a.values.begin()) / type_size(a.type);
}

}  // namespace

std::string value_text(const Attribute& attribute) { return excerpt(attribute, 0).text; }

ValueDifference value_difference(const Attribute& found, const Attribute& expected) {
  Excerpt left = excerpt(found, 0), right = excerpt(expected, 0);
  std::string remark;
  if (!left.whole || !right.whole) {
    const std::uint64_t at = first_difference(found, expected);
    const std::uint64_t before = found.type == Type::kChar ? 16 : 2;
    const std::uint64_t from = at > before ? at - before : 0;
    left = excerpt(found, from);
    right = excerpt(expected, from);
    remark = joined_text(", the first difference is at ", unit(found), " ", at);
  }
  // Different values have the same text only if they are NaNs with different bits.
  if (left.text == right.text) remark += ", NaN with different bits";
  return {left.text, right.text, remark};
}

}  // namespace nmb
