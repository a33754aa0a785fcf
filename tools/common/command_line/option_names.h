// Spells the options of the library as options of the tools.
#pragma once

#include <string>

namespace nmb::tools {

// Replaces the names of fields and constants of the library in a message by the options of the
// tools that set them: "Pack::link needs ..." becomes "--link needs ...".
std::string with_option_names(std::string message);

}  // namespace nmb::tools
