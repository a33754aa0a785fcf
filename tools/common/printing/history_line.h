// history_line: the line that a join adds to the attribute `history`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/printing/json_document.h"

namespace nmb::tools {

// Returns "TOOL VERSION OPTIONS: N files: FIRST to LAST". `options` is an object: a value is a
// text, or `true` for an option without a value. The line does not depend on the folder, the time
// or the number of processes, so that the same call always writes the same bytes.
std::string history_line(std::string_view tool, const Json& options,
                         std::span<const std::string> inputs);

// Returns the words of such a line, without the quotes of a shell.
std::vector<std::string> words_of(std::string_view line);

}  // namespace nmb::tools
