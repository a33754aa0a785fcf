// The help of all commands, in lines of at most 80 characters.
#pragma once

#include <memory>

#include "common/help_text.h"

namespace nmb::tools {

// -h: usage and the frequent options, a line each, on one screen. --help: everything, subcommands
// too. `texts` outlives the formatter.
std::shared_ptr<CLI::FormatterBase> help_formatter(const HelpTexts& texts);

}  // namespace nmb::tools
