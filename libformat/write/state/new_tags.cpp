// Keeps tags until they are committed (see state/new_tags.h).
#include "state/new_tags.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "model/name_rules.h"
#include "wire/joined_text.h"

namespace nmb {

void NewTags::set(BlockId block, std::string_view name, TagValue value) {
  std::vector<NewTag>& tags = tags_[block];
  const auto known = std::ranges::find(tags, name, &Tag::name);
  if (known == tags.end())
    tags.push_back({{std::string(name), std::move(value)}, own_rank_});
  else
    known->value = std::move(value);
}

const std::vector<NewTag>& NewTags::of(BlockId block) const {
  static const std::vector<NewTag> kNone;
  const auto found = tags_.find(block);
  return found == tags_.end() ? kNone : found->second;
}

void NewTags::put(BlockId block, MessageWriter& out) const {
  for (const Tag& tag : of(block)) {
    out.put_text(tag.name);
    out.put(static_cast<std::uint8_t>(tag.value.index()));
    if (const auto* text = std::get_if<std::string>(&tag.value))
      out.put_text(*text);
    else if (const auto* number = std::get_if<std::int64_t>(&tag.value))
      out.put(*number);
    else if (const auto* whole = std::get_if<std::uint64_t>(&tag.value))
      out.put(*whole);
    else
      out.put(std::get<double>(tag.value));
  }
}

namespace {

TagValue value_from(MessageReader& in) {
  switch (in.get<std::uint8_t>()) {
    case 0:
      return std::string(in.get_text());
    case 1:
      return in.get<std::int64_t>();
    case 2:
      return in.get<std::uint64_t>();
    default:
      return in.get<double>();
  }
}

}  // namespace

Status NewTags::unite(BlockId block, std::string_view name, int rank, MessageReader in) {
  while (!in.at_end()) {
    std::string tag(in.get_text());
    TagValue value = value_from(in);
    std::vector<NewTag>& tags = tags_[block];
    const auto known = std::ranges::find(tags, tag, &Tag::name);
    if (known == tags.end())
      tags.push_back({{std::move(tag), std::move(value)}, rank});
    else if (!is_same_tag(known->value, value))
      return Status(Code::kConflict,
                    joined_text("block ", in_quotes(name), ": tag ", in_quotes(tag), ": found ",
                                tag_text(value), " on rank ", rank, ", expected ",
                                tag_text(known->value), " as on rank ", known->rank));
  }
  return {};
}

}  // namespace nmb
