// Encodes and decodes the statistics of a variable as a row of the table (spec/format.md, section
// 9.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/table/table_row.h"
#include "nmb/metadata.h"
#include "nmb/statistics.h"
#include "nmb/status.h"

namespace nmb {

// Returns the classic type that the variable's values have when they are counted. Returns nullopt
// if the values cannot be counted.
std::optional<Type> counted_type(const Metadata& metadata, VarId variable);

// Returns the row of a variable whose values were counted. *histogram receives the bytes of the
// histogram. `name` and *histogram must outlive the row.
TableRow statistics_row(std::string_view name, std::uint64_t order,
                        const VariableStatistics& statistics, std::vector<std::byte>* histogram);

// Decodes a row of statistics. Errors: kDamaged (R-ST-1), without a position.
Result<VariableStatistics> row_statistics(const TableRow& row);

}  // namespace nmb
