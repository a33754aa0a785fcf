// The manual page of a tool, as man(1) shows it.
#pragma once

#include <string>

#include "common/command_line/help_text.h"

namespace nmb::tools {

// Returns the page in roff, with the macros of man(7). `app` is the app of the whole tool.
std::string manual_page(const CLI::App& app, const HelpTexts& texts);

}  // namespace nmb::tools
