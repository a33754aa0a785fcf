// Changes the path in the bytes of a reference (spec/extended.md, section 15.1).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/extension.h"
#include "wire/failure.h"

namespace nmb {

// Returns the new path of the object at `path`, or nullopt if the object no longer exists. The old
// and the new path begin with '/'.
using PathMap = std::function<std::optional<std::string>(std::string_view path)>;

// Returns the bytes of a reference with its path replaced by the path that `map` returns, or
// nullopt if `map` returns nullopt. `bytes` must not be empty. Errors: kDamaged.
Result<std::optional<std::vector<std::byte>>> moved_reference(ReferenceKind kind,
                                                              std::span<const std::byte> bytes,
                                                              const PathMap& map);

}  // namespace nmb
