// Statistics of a variable as a row of their table (spec/format.md, section 9.3).
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

// Variables with longer names have no row.
inline constexpr std::size_t kMostRowName = 65535;

// Returns the classic type of a variable's values; nullopt: none.
std::optional<Type> counted_type(const Metadata& metadata, VarId variable);

// Returns the row of a variable that was counted. name and *histogram, which receives the
// histogram's bytes, must outlive it.
TableRow statistics_row(std::string_view name, std::uint64_t order,
                        const VariableStatistics& statistics, std::vector<std::byte>* histogram);

// Errors: kDamaged: R-ST-1, without a position.
Result<VariableStatistics> row_statistics(const TableRow& row);

}  // namespace nmb
