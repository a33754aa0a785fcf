// Converts names to text for display and for JSON. Names in files may contain any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb {

// Returns the bytes as unambiguous text for a terminal or for one line of a text. Writes each byte
// of the following characters as \xHH: control characters (also U+0080 to U+009F), characters that
// change the direction of text, and line separators. Bytes that are not UTF-8 are also written as
// \xHH. Tab, line feed and carriage return become \t, \n and \r. A backslash is doubled.
NMB_EXPORT std::string printable(std::string_view bytes);

// Returns the bytes from which printable() made the text, or nullopt if a backslash is followed by
// something that printable() does not write.
NMB_EXPORT std::optional<std::string> bytes_of_printable(std::string_view text);

// Returns valid UTF-8 from which the original bytes can be recovered; write_json_header() writes
// the same form. A byte b becomes the character U+EF00 + b if it is not part of valid UTF-8, or if
// it belongs to a character from U+EF80 to U+EFFF. Does not add quotation marks or escapes.
NMB_EXPORT std::string json_text(std::string_view bytes);
// Returns the bytes from which json_text() made the text.
NMB_EXPORT std::string bytes_of_json_text(std::string_view text);

}  // namespace nmb
