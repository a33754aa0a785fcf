// Tags: values that somebody gave a block (spec/format.md, section 9.4).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace nmb {

using TagValue = std::variant<std::string, std::int64_t, std::uint64_t, double>;

}  // namespace nmb
