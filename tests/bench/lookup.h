// The measured lookup of one variable by full name with a fresh open, the same for every library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "description.h"

namespace nmb::bench {

// Opens the file, reads all of "BLOCK/VARIABLE", closes. Throws on failure.
using Lookup =
    std::function<std::vector<std::int32_t>(const std::string& path, const std::string& name)>;

// Parses the command line, looks up random variables, compares their values with what was put and
// prints medians as a line of JSON. The result is main's.
int run_lookups(int argc, char** argv, const char* program, const Lookup& lookup);

}  // namespace nmb::bench
