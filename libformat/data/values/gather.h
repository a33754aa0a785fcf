// Gathers the external bytes of a selection and passes them on in portions of limited size
// (spec/format.md, section 10), for reading into arrays and for printing.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "model/values.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// The most bytes that are read at once.
inline constexpr std::uint64_t kGatherWindow = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kGatherHole = 4096;  // a gap between selected bytes is skipped only
                                                    // if it is longer than this

// Calls take(elements) with the selected elements in row-major order. Each call gets whole elements
// in external form, at most kGatherWindow bytes unless a single element is larger. `elements` is
// valid only during the call. `slab` must have passed check_hyperslab().
Status gather(const VariableShape& shape, const Hyperslab& slab, const ByteSource& extent,
              const std::function<Status(std::span<const std::byte>)>& take);

}  // namespace nmb
