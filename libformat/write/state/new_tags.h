// NewTags: the tags that a rank sets for blocks of the next commit (spec/tables.md, section 9.4).
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "nmb/statistics.h"
#include "ranks/writer_options.h"
#include "wire/failure.h"

namespace nmb {

struct NewTag : Tag {
  int rank;  // the rank that set the tag
};

template <class Fields>
void fields(Fields& all, Tag& tag) {
  all(tag.name, tag.value);
}

// Not thread-safe.
class NewTags {
 public:
  explicit NewTags(int own_rank) : own_rank_(own_rank) {}

  bool empty() const { return tags_.empty(); }
  // Adds a tag to a block, or replaces the tag of this name.
  void set(BlockId block, std::string_view name, TagValue value);
  // Returns the tags of a block in the order in which they were set first.
  const std::vector<NewTag>& of(BlockId block) const;
  void forget(BlockId block) { tags_.erase(block); }
  void clear() { tags_.clear(); }

  // Adds the tags that rank `rank` has set. `name` is the block's name. Errors: kConflict if the
  // block already has a tag of the same name with another value.
  Status unite(BlockId block, std::string_view name, int rank, const std::vector<Tag>& tags);

 private:
  int own_rank_;
  std::map<BlockId, std::vector<NewTag>> tags_;
};

}  // namespace nmb
