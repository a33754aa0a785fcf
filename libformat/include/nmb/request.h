// RequestId: values that are to be put or read together with others, when they are waited for
// (Writer::iput, GetRequests::iget).
#pragma once

#include <cstdint>

namespace nmb {

// Of one writer or one GetRequests, never given twice.
using RequestId = std::uint64_t;

}  // namespace nmb
