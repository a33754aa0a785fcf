// Texts and JSON of differences between two files (compare/compare.h).
#pragma once

#include <string>
#include <vector>

#include "common/printing/json_document.h"
#include "compare/compare.h"

namespace nmb::tools {

std::string largest_difference_text(const ComparedVariable& variable);

// Returns the line for a difference, without a line end. first, second: the names of both files.
std::string difference_line(const DefinitionDifference& difference, const std::string& first,
                            const std::string& second);
// Returns the lines for the values of a variable; none if the values are the same.
std::vector<std::string> difference_lines(const ComparedVariable& variable);

Json difference_json(const DefinitionDifference& difference);
Json difference_json(const ComparedVariable& variable);

}  // namespace nmb::tools
