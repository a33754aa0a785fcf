#include "table/tag_row.h"

#include <bit>
#include <span>
#include <string>

#include "model/name_rules.h"

namespace nmb {

namespace {

enum TagKind : std::uint8_t { kTextTag = 1, kInt64Tag = 2, kUInt64Tag = 3, kDoubleTag = 4 };

bool is_text(std::string_view text) {
  return is_utf8(text) && text.find('\0') == std::string_view::npos;
}

}  // namespace

Status check_new_tag(std::string_view name, const TagValue& value) {
  if (name.empty() || name.size() > kMostRowName || !is_text(name))
    return Status(Code::kUsage, "invalid tag name " + in_quotes(name) +
                                    ": expected 1 to 65535 bytes of UTF-8 without NUL");
  return check_text(value, "tag " + in_quotes(name));
}

Status check_text(const TagValue& value, const std::string& of) {
  if (const auto* text = std::get_if<std::string>(&value); text && !is_text(*text))
    return Status(Code::kUsage, "invalid value of " + of + ": expected UTF-8 without NUL, found " +
                                    in_quotes(*text));
  return {};
}

TableRow tag_row(const Tag& tag, std::uint64_t order) {
  TableRow row;
  row.name = tag.name;
  row.order = order;
  if (const auto* text = std::get_if<std::string>(&tag.value)) {
    row.kind = kTextTag;
    row.bytes = std::as_bytes(std::span(*text));
  } else if (const auto* number = std::get_if<std::int64_t>(&tag.value)) {
    row.kind = kInt64Tag;
    row.minimum = std::bit_cast<std::uint64_t>(*number);
  } else if (const auto* whole = std::get_if<std::uint64_t>(&tag.value)) {
    row.kind = kUInt64Tag;
    row.minimum = *whole;
  } else {
    row.kind = kDoubleTag;
    row.minimum = std::bit_cast<std::uint64_t>(std::get<double>(tag.value));
  }
  return row;
}

Result<TagValue> row_tag(const TableRow& row) {
  const auto wrong = [](const char* what) {
    return Status(Code::kDamaged, {}, kNoOffset, "R-TG-1", what);
  };
  if (!is_text(row.name)) return wrong("found a name that is not UTF-8 or contains NUL");
  if (row.kind < kTextTag || row.kind > kDoubleTag)
    return wrong("found a tag with a kind other than 1 to 4");
  if (row.kind == kTextTag) {
    const std::string text(reinterpret_cast<const char*>(row.bytes.data()), row.bytes.size());
    if (row.minimum != 0 || !is_text(text))
      return wrong("found a text tag that has a number, is not UTF-8, or contains NUL");
    return TagValue(text);
  }
  if (!row.bytes.empty()) return wrong("found a numeric tag with text");
  if (row.kind == kInt64Tag) return TagValue(std::bit_cast<std::int64_t>(row.minimum));
  if (row.kind == kUInt64Tag) return TagValue(row.minimum);
  return TagValue(std::bit_cast<double>(row.minimum));
}

}  // namespace nmb
