// Names as text: for people to see, and for JSON. Names in files are bytes that anybody chose.
#pragma once

#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

// For terminals and lines of text, unambiguous: control characters (U+0080 to U+009F too),
// characters that change the direction of text, line separators and bytes that are no UTF-8 are
// \xHH byte by byte (tab, line feed and carriage return \t, \n, \r), a backslash is two.
NMB_EXPORT std::string printable(std::string_view bytes);

// Valid UTF-8 from which the bytes can be told, as write_json_header has it: a byte b that is no
// part of valid UTF-8, or is one of U+EF80 to U+EFFF, is U+EF00 + b. Without quotation marks and
// escapes.
NMB_EXPORT std::string json_text(std::string_view bytes);

}  // namespace nmb
