// Values of attributes as messages about a conflict show them: CDL constants, or a string in
// quotation marks with CDL's escapes. A text has about 200 bytes at most.
#pragma once

#include <string>

#include "nmb/metadata.h"

namespace nmb {

// Returns the first values as text. If values are cut off, the text ends in "..." and the number of
// values.
std::string value_text(const Attribute& attribute);

// The difference between two attributes of one type.
struct ValueDifference {
  std::string found, expected;
  std::string remark;  // the place of the difference, beginning with ", "; empty if it is obvious
};

// `found` and `expected` have the same type and different values. If one of them is too long, both
// are shown around the first difference.
ValueDifference value_difference(const Attribute& found, const Attribute& expected);

}  // namespace nmb
