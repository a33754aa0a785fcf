// What a command says of itself, in -h, in --help and in the manual page.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace nmb::tools {

struct HelpText {
  std::string summary;   // one sentence
  std::string details;   // paragraphs, one a line; not in -h
  std::string examples;  // lines of "COMMAND  # what for"; not in -h
  // Names of the options that -h shows; empty: all.
  std::vector<std::string> frequent = {};
};

using HelpTexts = std::map<const CLI::App*, HelpText>;

// Positional arguments, then options, each in the order in which they were defined.
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

// "FILE" or "-o,--output".
std::string names_of(const CLI::Option& option);

// What follows the names of an option: "N", "KEY=VALUE ...", or nothing.
std::string value_of(const CLI::Option& option);

// "NAME [OPTIONS] FILE [GLOB]". name: of the command, with the tool's before it.
std::string usage_of(const CLI::App& command, const std::string& name);

}  // namespace nmb::tools
