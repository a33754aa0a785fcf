// PatternOption: the GLOB argument and -e of subcommands that take names.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "common/glob.h"
#include "nminspect/object_pattern.h"

namespace nmb::tools {

struct PatternOption {
  std::optional<std::string> text;
  bool regex = false;

  // The last paragraph of a subcommand's help.
  static constexpr const char* kHelp =
      "A GLOB matches whole names: ? is one character except \"/\", * any number of these; ** is "
      "any number of any characters, **/ also none; [a-z] is a set, [!a-z] its complement; \\ "
      "makes the next character literal. With -e it is a regular expression (PCRE2) that may match "
      "anywhere in a name.";

  void offer(CLI::App& command, const std::string& what) {
    command.add_option("GLOB", text, what);
    command.add_flag("-e", regex, "GLOB is a regular expression");
  }
  // Matches everything if no pattern was given. Errors: kUsage if it is not a pattern, or for -e
  // without one.
  Result<NamePattern> names() const { return made<NamePattern>(); }
  Result<ObjectPattern> objects() const { return made<ObjectPattern>(); }

 private:
  template <class Pattern>
  Result<Pattern> made() const {
    if (text) return regex ? Pattern::regex(*text) : Pattern::glob(*text);
    if (regex) return Status(Code::kUsage, "-e needs a pattern");
    return Pattern();
  }
};

}  // namespace nmb::tools
