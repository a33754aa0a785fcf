// Formats values of attributes for messages about conflicts: as CDL constants, or as a string in
// quotation marks with CDL's escapes. A text has at most about 200 bytes.
#pragma once

#include <string>

#include "model/metadata.h"

namespace nmb {

// Returns the first values of an attribute as text, followed by "..." and the total number of
// values if some are left out.
std::string value_text(const Attribute& attribute);

// The difference between two attributes of one type.
struct ValueDifference {
  std::string found, expected;
  std::string remark;  // where the values differ, after ", "; empty if this is obvious
};

// Describes the difference between two attributes of the same type with different values. If an
// attribute is too long, both texts show values around the first difference.
ValueDifference value_difference(const Attribute& found, const Attribute& expected);

}  // namespace nmb
