// Hyperslabs as users write them (--slab).
#pragma once

#include <span>
#include <string_view>

#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb::tools {

// `text` has one selection for each dimension of `lengths`, separated by commas, each
// "START:COUNT:STRIDE". Defaults: start 0, stride 1, all elements up to the end; a number alone
// selects that index. Errors: kUsage for any other text, a different number of dimensions, a stride
// of 0, or a start beyond the end.
Result<Hyperslab> parse_slab(std::string_view text, std::span<const std::uint64_t> lengths);

// Selects all elements.
Hyperslab whole_slab(std::span<const std::uint64_t> lengths);

}  // namespace nmb::tools
