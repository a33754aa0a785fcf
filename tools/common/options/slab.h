// Parses hyperslabs as users write them (--slab).
#pragma once

#include <cstdint>
#include <optional>
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

// The selection of one dimension. Without `count`, up to the end.
struct SlabOfDimension {
  std::uint64_t start = 0;
  std::optional<std::uint64_t> count{};
  std::uint64_t stride = 1;
};

// Parses one selection "START:COUNT:STRIDE". Errors: kUsage.
Result<SlabOfDimension> parse_slab(std::string_view text);

Hyperslab whole_slab(std::span<const std::uint64_t> lengths);

}  // namespace nmb::tools
