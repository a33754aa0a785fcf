// BlockTemplate: names of blocks from {stem}, {path}, {index} and {group}.
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
  // kUsage: an unknown or unclosed field.
  static Result<BlockTemplate> parse(std::string_view text);
  bool has_group() const { return has(Field::kGroup); }
  // Whether names come from those of inputs.
  bool has_input_name() const { return has(Field::kStem) || has(Field::kPath); }
  // The name for a group ("": none) of the input `path` at `index`. An empty group drops its '/'.
  // kUsage: {path} with "..".
  Result<std::string> expand(std::string_view path, std::size_t index,
                             std::string_view group) const;
  // The name below which those of all groups lie as they do in the input; nullopt: there is none,
  // as names do not end in "/{group}". kUsage as above.
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
