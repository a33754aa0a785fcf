// Hyperslabs as users write them (--slab).
#pragma once

#include <span>
#include <string_view>

#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb::tools {

// One selection a dimension of `lengths`, separated by commas, each "START:COUNT:STRIDE". Left out:
// start 0, stride 1, and a count up to the end; a number alone is that one index. kUsage: other
// text, another number of dimensions, a stride of 0, a start past the end.
Result<Hyperslab> parse_slab(std::string_view text, std::span<const std::uint64_t> lengths);

// All elements.
Hyperslab whole_slab(std::span<const std::uint64_t> lengths);

}  // namespace nmb::tools
