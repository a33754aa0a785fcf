// Completions of a tool's arguments for the shells bash, zsh and fish.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/command_line/help_text.h"

namespace nmb::tools {

// Returns the script for a shell: "bash", "zsh" or "fish". Returns nullopt for other shells. `app`
// is the app of the whole tool.
std::optional<std::string> completion_script(CLI::App& app, std::string_view shell);

}  // namespace nmb::tools
