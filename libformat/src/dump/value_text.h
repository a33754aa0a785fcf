// Values of attributes as messages about a conflict show them: CDL constants, or a string in
// quotation marks with CDL's escapes; at most some 200 bytes.
#pragma once

#include <string>

#include "nmb/metadata.h"

namespace nmb {

// The first values. What is cut ends in "..." and the number of values there are.
std::string value_text(const Attribute& attribute);

// What tells two attributes of one type apart.
struct ValueDifference {
  std::string found, expected;
  std::string remark;  // where to look, from ", " on; empty: plain to see
};

// `found` and `expected` have the same type and other values. Where one of them is too long, both
// are shown around the first difference.
ValueDifference value_difference(const Attribute& found, const Attribute& expected);

}  // namespace nmb
