// The values that a merged file must have where their bits differ from those of an input. Does not
// use the conversions of a merge, because the proof must find errors in them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/dataset_content.h"
#include "netcdf/calendar_time.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// Appends the values that are expected for canonical values.
using ExpectedValues =
    std::function<void(std::span<const std::byte> values, std::vector<std::byte>* out)>;

// Returns the classic type of a variable, or nullopt.
std::optional<Type> classic_type_of(const DatasetContent& block, std::size_t variable);
// Returns the number of a variable, or nullopt.
std::optional<std::size_t> find_variable(const DatasetContent& block, std::string_view name);
// Returns an attribute, or nullopt. Errors: those of DatasetContent.
Result<std::optional<AttributeContent>> find_attribute(DatasetContent& block, std::size_t variable,
                                                       std::string_view name);
// Returns the text of an attribute; empty if it does not exist or has no characters.
Result<std::string> text_of(DatasetContent& block, std::size_t variable, std::string_view name);

// Returns the name of the coordinate whose bounds a variable is; empty if there is none.
Result<std::string> coordinate_with_bounds(DatasetContent& block, const std::string& bounds);
// Returns a canonical number as a double, rounded if necessary.
double number_of_canonical(Type type, const std::byte* value);
// Returns the numbers of type `from` as numbers of type `to`. `fill` becomes `wide_fill`; both are
// empty if all numbers stay the same.
ExpectedValues widened(Type from, Type to, std::vector<std::byte> fill,
                       std::vector<std::byte> wide_fill);
// Returns numbers to which `degrees` are added, rounded to a double and then to the type.
ExpectedValues turned(Type type, double degrees);
// Returns `second`, applied to the results of `first`. Either may be unset.
ExpectedValues one_after_the_other(ExpectedValues first, ExpectedValues second);
// Returns times in other units: (time * from + shift) / to. kept: values that stay the same.
ExpectedValues rebased(Type type, const TimeShift& shift, std::vector<std::byte> kept);

// Returns the function that converts values of an input's variable to those that the merged file
// must have; unset if they stay the same. rebases: whether times count from another day in the
// merged file. Errors: those of DatasetContent; kUnsupported if the types differ and the merged one
// is not wider.
Result<ExpectedValues> expected_values(DatasetContent& input, std::size_t from,
                                       DatasetContent& merged, std::size_t to, bool rebases);

// Returns the canonical value of elements that no input has: _FillValue, missing_value, or netCDF's
// default.
Result<std::vector<std::byte>> missing_value_of(DatasetContent& merged, std::size_t variable);

}  // namespace nmb
