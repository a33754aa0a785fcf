// Gathering: the external bytes of a selection, packed, in bounded portions (spec/format.md,
// "Values"). What reading into arrays and printing values have in common.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

inline constexpr std::uint64_t kGatherWindow = std::uint64_t{1} << 20;  // bytes of one read at most
inline constexpr std::uint64_t kGatherHole = 4096;  // bytes not selected that are read over at most

// Calls take(elements) with the selected elements in row-major order, whole elements in external
// form, at most kGatherWindow bytes a call, or one element where that is longer. The span ends with
// the call. `slab` must have passed check_hyperslab.
Status gather(const VariableShape& shape, const Hyperslab& slab, const ByteSource& extent,
              const std::function<Status(std::span<const std::byte>)>& take);

}  // namespace nmb
