// Kinds of block bodies (spec/format.md, section 8.1), and numbers of objects in a block.
#pragma once

#include <cstdint>

#include "nmb/types.h"

namespace nmb {

// The form of a block's body: a classic header (1, 2 or 5), or the extended header (6;
// model/extension.h).
enum class Kind : std::uint8_t { kCdf1 = 1, kCdf2 = 2, kCdf5 = 5, kExtended = 6 };

constexpr bool is_classic(Kind kind) {
  return kind == Kind::kCdf1 || kind == Kind::kCdf2 || kind == Kind::kCdf5;
}

using DimId = std::uint32_t;
using VarId = std::uint32_t;

// Stands for the block itself where a variable's ID is expected. The attributes of the block are
// the global attributes.
inline constexpr VarId kGlobal = ~VarId{0};

// The greatest number of records or samples of a block, and of any sum of them.
inline constexpr std::uint64_t kMostCount = ~std::uint64_t{0} >> 1;  // 2^63 - 1

}  // namespace nmb
