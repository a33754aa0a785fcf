// Formats the help of all commands in lines of at most 80 characters.
#pragma once

#include <memory>

#include "common/command_line/help_text.h"

namespace nmb::tools {

// Returns a formatter. For -h, the formatter shows the usage and the frequent options, one line
// each, on one screen. For --help, the formatter shows everything, including subcommands. `texts`
// must outlive the formatter.
std::shared_ptr<CLI::FormatterBase> help_formatter(const HelpTexts& texts);

}  // namespace nmb::tools
