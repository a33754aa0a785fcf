// Options of public calls in the form that the library's own calls take.
#pragma once

#include <optional>

#include "model/values.h"
#include "nmb/options.h"
#include "wire/kinds.h"

namespace nmb {

// Returns nullopt if nothing is asked for. Errors: kUsage.
Result<std::optional<Compression>> compression_of(const Storing& storing);
// Returns the kind of a classic file. Errors: kUsage for another kind.
Result<Kind> classic_kind(FileKind kind);

}  // namespace nmb
