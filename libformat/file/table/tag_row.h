// Encodes and decodes tags as rows of their table (spec/tables.md, section 9.4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/statistics.h"
#include "table/table_row.h"

namespace nmb {

// Checks a tag that a user gives to a block. Errors: kUsage.
Status check_new_tag(std::string_view name, const TagValue& value);
// Checks the text of a value, if it has one. of: the owner of the value, for the message. Errors:
// kUsage.
Status check_text(const TagValue& value, const std::string& of);
// Returns the row of a tag, which refers to bytes of `tag`.
TableRow tag_row(const Tag& tag, std::uint64_t order);
// Decodes a row of tags. Errors: kDamaged (R-TG-1), without a position.
Result<TagValue> row_tag(const TableRow& row);

}  // namespace nmb
