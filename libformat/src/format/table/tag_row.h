// Decodes a tag from a row of its table (spec/format.md, section 9.4).
#pragma once

#include "format/table/table_row.h"
#include "nmb/statistics.h"

namespace nmb {

// Decodes a row of tags. Errors: kDamaged (R-TG-1), without a position.
Result<TagValue> row_tag(const TableRow& row);

}  // namespace nmb
