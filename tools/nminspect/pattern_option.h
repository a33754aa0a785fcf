// PatternOption: the GLOB argument and -e, as subcommands that take names have them.
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
      "A GLOB matches whole names: ? is one character and * any number of them, but no \"/\"; ** "
      "is "
      "any number of any characters, **/ also none; [a-z] is a set, [!a-z] its complement; \\ "
      "takes "
      "the next character as it is. With -e it is a regular expression (PCRE2) that may match "
      "anywhere in a name.";

  void offer(CLI::App& command, const std::string& what) {
    command.add_option("GLOB", text, what);
    command.add_flag("-e", regex, "GLOB is a regular expression");
  }
  // Everything where no pattern was given. kUsage: not a pattern, or -e without one.
  Result<NamePattern> names() const { return made<NamePattern>(); }
  Result<ObjectPattern> objects() const { return made<ObjectPattern>(); }

 private:
  template <class Pattern>
  Result<Pattern> made() const {
    if (text) return regex ? Pattern::regex(*text) : Pattern::glob(*text);
    if (regex) return Status(Code::kUsage, "found -e, expected a pattern with it");
    return Pattern();
  }
};

}  // namespace nmb::tools
