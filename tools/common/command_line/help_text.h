// Texts of a command for -h, --help and the manual page.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace nmb::tools {

struct HelpText {
  std::string summary;   // one sentence
  std::string details;   // paragraphs, one on each line; -h omits them
  std::string examples;  // lines of "COMMAND  # purpose"; -h omits them
  // Names of the options that -h shows. If this list is empty, -h shows all options.
  std::vector<std::string> frequent = {};
};

using HelpTexts = std::map<const CLI::App*, HelpText>;

// Returns the positional arguments and then the options, in the order of their definitions.
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

// Returns "FILE" or "-o,--output".
std::string names_of(const CLI::Option& option);

// Returns the text that stands for an option's value in help: "N", "KEY=VALUE ...", or an empty
// text.
std::string value_of(const CLI::Option& option);

// Shortens `text` to at most `width` characters. First tries to omit a parenthesis at the end of
// the text. If that is not enough, returns the first clause, or as many words as fit. A first
// clause shorter than 12 characters is not used: in "join: the dimension of ...", the clause "join"
// is only the mode of the option.
std::string brief(const std::string& text, std::size_t width);
// Returns the same as brief(), but never cuts the first clause.
std::string first_clause(const std::string& text, std::size_t width);

// Returns "NAME [OPTIONS] FILE [GLOB]". `name` is the name of the command, with the name of the
// tool before it.
std::string usage_of(const CLI::App& command, const std::string& name);

}  // namespace nmb::tools
