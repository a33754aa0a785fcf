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

Status NewTags::unite(BlockId block, std::string_view name, int rank,
                      const std::vector<Tag>& tags) {
  for (const Tag& tag : tags) {
    std::vector<NewTag>& all = tags_[block];
    const auto known = std::ranges::find(all, tag.name, &Tag::name);
    if (known == all.end())
      all.push_back({tag, rank});
    else if (!is_same_tag(known->value, tag.value))
      return Status(Code::kConflict, {}, kNoOffset, {},
                    joined_text("block ", in_quotes(name), ": tag ", in_quotes(tag.name),
                                ": found ", tag_text(tag.value), " on rank ", rank, ", expected ",
                                tag_text(known->value), " as on rank ", known->rank),
                    rank);
  }
  return {};
}

}  // namespace nmb
