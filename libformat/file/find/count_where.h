// Counts the values of a variable for which a condition holds. Missing values and NaN do not count.
#pragma once

#include <cstdint>
#include <optional>

#include "find/find.h"
#include "model/dataset.h"
#include "nmb/statistics.h"
#include "wire/failure.h"

namespace nmb {

// Returns the exact value of a number of a classic type in external form.
long double number_of(Type type, const std::byte* external);

// Returns the float that is nearest to the number. Numbers beyond the largest float are returned
// unchanged.
long double rounded_to_float(long double number);

// Computes, from statistics, bounds of the number of values for which the condition holds.
FindNumber count_bounds(const VariableStatistics& statistics, const ValueCondition& condition);

// Counts the values for which the condition holds. parts: the stored ranges of the variable's
// parts, or nullptr; a part whose range decides the result is not read. Returns nullopt if the
// values cannot be counted or decoded. Errors: kDamaged, also if the ranges do not fit the
// variable; kIo.
Result<std::optional<std::uint64_t>> count_where(const Dataset& dataset, VarId variable,
                                                 const ValueCondition& condition,
                                                 const PartRanges* parts, unsigned threads);

}  // namespace nmb
