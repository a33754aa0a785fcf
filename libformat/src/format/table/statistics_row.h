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

// Longer names have no row.
inline constexpr std::size_t kMostRowName = 65535;

// The classic type whose values a variable has; nullopt: none.
std::optional<Type> counted_type(const Metadata& metadata, VarId variable);

// The row of a variable that was counted. name and *histogram, which receives the histogram's
// bytes, outlive it.
TableRow statistics_row(std::string_view name, std::uint64_t order,
                        const VariableStatistics& statistics, std::vector<std::byte>* histogram);

// kDamaged: R-ST-1, without a place.
Result<VariableStatistics> row_statistics(const TableRow& row);

}  // namespace nmb
