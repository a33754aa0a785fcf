// Keeps values of an input in memory.
#pragma once

#include <cstdint>

#include "model/dataset.h"
#include "sources/value_source.h"

namespace nmb {

// Returns the values of a classic dataset as form::Held. Keeps in memory the values of small
// coordinates, and of small variables that have no records. The dataset's file must be open now.
// *budget: how many bytes may still be kept for all inputs; the call reduces it. Errors: kIo,
// kDamaged.
Result<Source> hold_small(const Dataset& dataset, Source values, std::uint64_t* budget);

}  // namespace nmb
