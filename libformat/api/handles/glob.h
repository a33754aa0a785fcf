// NamePattern: selects names of blocks and objects by glob or regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb {

// A glob matches whole names. `?` matches one character except '/'. `*` matches any number of
// characters except '/'. `[...]` matches one character of a set, which consists of ASCII characters
// and ranges of them; `[!...]` or `[^...]` matches one character that is not in the set. `**`
// matches any number of any characters. `**/` at the beginning of a component matches any number of
// whole components of a name, including none. `\` makes the next character literal. A regular
// expression has the syntax of PCRE2 with UTF-8, and may match any part of a name unless it has an
// anchor (^ or $).
//
// A NamePattern is thread-safe; its copies share their state.
class NMB_EXPORT NamePattern {
 public:
  // Matches everything.
  NamePattern() : whole_prefix_(true) {}
  // Errors: kUsage for an invalid pattern; the message says what is wrong and where.
  static Result<NamePattern> glob(std::string_view pattern);
  static Result<NamePattern> regex(std::string_view expression);

  // Returns whether `name` matches. Errors: kLimit if a regular expression takes too many steps on
  // this name.
  Result<bool> matches(std::string_view name) const;

  // Returns a text with which every matching name begins.
  const std::string& literal_prefix() const { return prefix_; }
  // Returns whether only the literal prefix itself matches.
  bool is_literal() const { return literal_; }
  // Returns whether all names with the literal prefix match.
  bool is_whole_prefix() const { return whole_prefix_; }

 private:
  struct Compiled;
  Status compile(const std::string& expression, bool utf, std::string_view shown);

  std::string prefix_;
  bool literal_ = false;
  bool whole_prefix_ = false;
  std::shared_ptr<Compiled> compiled_;  // nullptr if a comparison with `prefix_` is enough
};

}  // namespace nmb
