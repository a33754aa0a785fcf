// Counts times from another day and in another unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sources/value_source.h"

namespace nmb {

// Returns the index of the first value that has no exact result. The result of a value in
// how.kept, of NaN and of infinity is the value itself. Every other result must be exact in
// how.type, and must differ from the values in how.kept. values: in external form.
std::optional<std::size_t> first_inexact(const Rebasing& how, std::span<const std::byte> values);

// Returns the conversion of values in external form. Values that have no exact result stay as they
// are.
ValueConversion rebasing(Rebasing how);

}  // namespace nmb
