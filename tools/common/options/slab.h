// Parses hyperslabs as users write them (--slab).
#pragma once

#include <span>
#include <string_view>

#include "model/values.h"
#include "wire/failure.h"

namespace nmb::tools {

// Parses `text`, which has one selection "START:COUNT:STRIDE" for each dimension, separated by
// commas. By default START is 0, STRIDE is 1, and COUNT includes all elements up to the end. A
// selection that is only one number selects the element with this index. `lengths` has the length
// of each dimension. Errors: kUsage for any other text, a wrong number of dimensions, a STRIDE of
// 0, or a START or COUNT beyond the end.
Result<Hyperslab> parse_slab(std::string_view text, std::span<const std::uint64_t> lengths);

Hyperslab whole_slab(std::span<const std::uint64_t> lengths);

}  // namespace nmb::tools
