// Converts names to text for display and for JSON. Names in files may contain any bytes.
#pragma once

#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

// Returns unambiguous text for terminals and lines of text. These become \xHH, byte by byte:
// control characters (also U+0080 to U+009F), characters that change the direction of text, line
// separators, and bytes that are not UTF-8. Tab, line feed and carriage return become \t, \n and
// \r. A backslash is doubled.
NMB_EXPORT std::string printable(std::string_view bytes);

// Returns valid UTF-8 from which the bytes can be recovered, as write_json_header() does. A byte b
// becomes the character U+EF00 + b if it is not part of valid UTF-8, or if it belongs to a
// character from U+EF80 to U+EFFF. Does not add quotation marks or escapes.
NMB_EXPORT std::string json_text(std::string_view bytes);

}  // namespace nmb
