// The manual page of a tool, as man(1) shows it.
#pragma once

#include <string>

#include "common/help_text.h"

namespace nmb::tools {

// In roff, with the macros of man(7). app: of the whole tool.
std::string manual_page(const CLI::App& app, const HelpTexts& texts);

}  // namespace nmb::tools
