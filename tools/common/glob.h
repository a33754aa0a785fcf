// NamePattern: selects names of blocks and objects by glob or regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb::tools {

// Globs match whole names. `?` matches one character except '/', `*` any number of them, `[...]`
// one of a set of ASCII characters with ranges (`[!...]` or `[^...]`: one that is not in the set),
// `**` any number of any characters, `**/` at the beginning of a part any number of whole parts,
// including none; `\` makes the next character literal. Regular expressions are those of PCRE2 for
// UTF-8, and match anywhere in a name unless anchored.
//
// Not thread-safe; copies share state.
class NamePattern {
 public:
  // Matches everything.
  NamePattern() : whole_prefix_(true) {}
  // Errors: kUsage, with the error in the pattern and its place.
  static Result<NamePattern> glob(std::string_view pattern);
  static Result<NamePattern> regex(std::string_view expression);

  // Errors: kLimit for a regular expression that takes too many steps on this name.
  Result<bool> matches(std::string_view name) const;

  // Returns a text with which all matching names begin.
  const std::string& literal_prefix() const { return prefix_; }
  // Returns whether the literal prefix is the only name that matches.
  bool is_literal() const { return literal_; }
  // Returns whether every name that begins with the literal prefix matches.
  bool is_whole_prefix() const { return whole_prefix_; }

 private:
  struct Compiled;
  Status compile(const std::string& expression, bool utf, std::string_view shown);

  std::string prefix_;
  bool literal_ = false;
  bool whole_prefix_ = false;
  std::shared_ptr<Compiled> compiled_;  // nullptr if the prefix is sufficient
};

}  // namespace nmb::tools
