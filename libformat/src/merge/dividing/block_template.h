// BlockTemplate: forms block names from a template with the fields {stem}, {path}, {index} and
// {group}.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/status.h"

namespace nmb {

class BlockTemplate {
 public:
  // Errors: kUsage if a field is unknown or not closed.
  static Result<BlockTemplate> parse(std::string_view text);
  bool has_group() const { return has(Field::kGroup); }
  // Returns whether the block names contain a part of the input's file name.
  bool has_input_name() const { return has(Field::kStem) || has(Field::kPath); }
  // Returns the block name for a group of the input `path` at position `index`. If `group` is
  // empty, there is no group, and the '/' before {group} is dropped. Errors: kUsage if {path} would
  // insert a path with "..".
  Result<std::string> expand(std::string_view path, std::size_t index,
                             std::string_view group) const;
  // Returns the block name below which all groups keep their paths from the input. Returns nullopt
  // if no such name exists because the template does not end in "/{group}". Errors: kUsage as for
  // expand().
  Result<std::optional<std::string>> place(std::string_view path, std::size_t index) const;

 private:
  enum class Field { kText, kStem, kPath, kIndex, kGroup };
  struct Part {
    Field field;
    std::string text;
  };
  bool has(Field field) const {
    return std::ranges::find(parts_, field, &Part::field) != parts_.end();
  }
  std::vector<Part> parts_;
};

}  // namespace nmb
