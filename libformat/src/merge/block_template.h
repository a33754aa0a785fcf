// BlockTemplate: names of blocks from {stem}, {path}, {index} and {group}.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/status.h"

namespace nmb {

class BlockTemplate {
 public:
  // kUsage: an unknown or unclosed field.
  static Result<BlockTemplate> parse(std::string_view text);
  bool has_group() const;
  // The name for a group ("": none) of the input `path` at `index`. An empty group drops its '/'.
  // kUsage: {path} with "..".
  Result<std::string> expand(std::string_view path, std::size_t index,
                             std::string_view group) const;

 private:
  enum class Field { kText, kStem, kPath, kIndex, kGroup };
  struct Part {
    Field field;
    std::string text;
  };
  std::vector<Part> parts_;
};

}  // namespace nmb
