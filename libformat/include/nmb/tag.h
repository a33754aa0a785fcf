// Tags: values that somebody gave a block (spec/format.md, section 9.4).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace nmb {

using TagValue = std::variant<std::string, std::int64_t, std::uint64_t, double>;

struct TagCounts {
  std::uint64_t tags = 0, blocks = 0;  // blocks: those with at least one
};

}  // namespace nmb
