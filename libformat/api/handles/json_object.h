// Checks a text that a program passes as JSON.
#pragma once

#include <string_view>

#include "wire/failure.h"

namespace nmb {

// Returns ok if the text is one JSON object (RFC 8259) in UTF-8, with at most 1,000 levels. Errors:
// kUsage, with the position of the first wrong byte.
Status check_json_object(std::string_view text);

}  // namespace nmb
