// BlockTemplate: forms names of blocks from {stem}, {path}, {index} and {group}.
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
  // Errors: kUsage for an unknown or unclosed field.
  static Result<BlockTemplate> parse(std::string_view text);
  bool has_group() const { return has(Field::kGroup); }
  // Returns whether names contain a part of the input's name.
  bool has_input_name() const { return has(Field::kStem) || has(Field::kPath); }
  // Returns the name for a group ("": none) of the input `path` at `index`. If the group is empty,
  // the '/' before it is dropped. Errors: kUsage for {path} with "..".
  Result<std::string> expand(std::string_view path, std::size_t index,
                             std::string_view group) const;
  // Returns the name below which all groups keep the paths that they have in the input; nullopt:
  // there is none, because the template does not end in "/{group}". Errors: kUsage, see above.
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
