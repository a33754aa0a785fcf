// Encodes and decodes the statistics of a variable as rows of the table (spec/tables.md, section
// 9.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/metadata.h"
#include "nmb/statistics.h"
#include "table/table_build.h"
#include "table/table_row.h"
#include "wire/failure.h"

namespace nmb {

// The parts of the name of a row of statistics.
struct StatisticsName {
  enum class Kind : std::uint8_t { kVariable, kParts, kFunction };
  Kind kind = Kind::kVariable;
  std::string_view variable;
  std::string_view function;  // empty unless `kind` is kFunction
};
// Both arguments must outlive the result.
StatisticsName statistics_name(std::string_view row_name);
// Returns the name of the row with the result of a function or, if `function` is empty, with the
// ranges of the parts.
std::string statistics_row_name(std::string_view variable, std::string_view function);

// Adds the rows of a variable whose values were counted, unless their names are too long.
void add_statistics_rows(std::string_view variable, std::uint64_t order,
                         const VariableStatistics& statistics, TableRows* rows);

// Decodes the row of a variable. Errors: kDamaged (R-ST-1), without a position.
Result<VariableStatistics> row_statistics(const TableRow& row);
// Decodes a row with the ranges of parts. Errors: kDamaged (R-ST-4), without a position.
Result<PartRanges> row_parts(const TableRow& row);
// Decodes a row with the result of a function. Errors: kDamaged (R-ST-5), without a position.
Result<FunctionResult> row_function(const TableRow& row);
// Adds a row of any kind to the statistics of its variable. Call this for the row of the variable
// before its other rows. Errors: kDamaged, without a position.
Status add_statistics_row(const TableRow& row, VariableStatistics* variable);
// Returns whether the block has the variable of a row and, if the row has a type, the variable has
// this type.
bool fits_variable(const Metadata& metadata, const TableRow& row);
// Checks a row of any kind. Errors: kDamaged, without a position.
Status check_statistics_row(const TableRow& row);

// Checks the functions that a program registers. Errors: kUsage.
Status check_functions(std::span<const ValueFunction> functions);

}  // namespace nmb
