// Gathers the external bytes of a selection and passes them on in portions of limited size
// (spec/format.md, "Values"). Reading into arrays and printing both use gather().
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

inline constexpr std::uint64_t kGatherWindow = std::uint64_t{1} << 20;  // largest number of bytes
                                                                        // in a single read
inline constexpr std::uint64_t kGatherHole = 4096;  // largest gap between selected bytes that is
                                                    // read and not skipped

// Calls take(elements) with the selected elements in row-major order. Each call gets whole elements
// in external form. A call gets at most kGatherWindow bytes, unless a single element is larger. The
// span is valid during the call. `slab` must have passed check_hyperslab().
Status gather(const VariableShape& shape, const Hyperslab& slab, const ByteSource& extent,
              const std::function<Status(std::span<const std::byte>)>& take);

}  // namespace nmb
