// PatternOption: the GLOB argument and the option -e of subcommands that select names.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "handles/glob.h"
#include "nminspect/object_pattern.h"

namespace nmb::tools {

struct PatternOption {
  std::optional<std::string> text;
  bool regex = false;

  // The paragraph about patterns, which is the last paragraph in the help of a subcommand.
  static constexpr const char* kHelp =
      "A GLOB matches whole names. A ? matches one character except \"/\", and * matches any "
      "number of such characters. A ** matches any number of any characters, and **/ matches any "
      "number of whole components of a name, including none. A set [a-z] matches one of its "
      "characters, and [!a-z] matches one character outside the set. A \\ makes the next character "
      "literal. With -e, GLOB is a regular expression (PCRE2) "
      "that may match anywhere in a name.";

  void offer(CLI::App& command, const std::string& what) {
    command.add_option("GLOB", text, what);
    command.add_flag("-e", regex, "GLOB is a regular expression");
  }
  // Returns the pattern. Without a pattern from the user, everything matches. Errors: kUsage for an
  // invalid pattern, or for -e without a pattern.
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
