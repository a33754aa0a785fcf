// NamePattern: which names of blocks and objects a user means, by glob or by regular expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb::tools {

// Globs match whole names. `?` is one character but '/', `*` any number of them, `[...]` one of a
// set of ASCII characters with ranges (`[!...]` or `[^...]`: none of them), `**` any number of any
// characters,
// `**/` at the front of a part any number of whole parts, none among them; `\` takes the next
// character as it is. Regular expressions are PCRE2's, of UTF-8, and match anywhere in a name
// unless anchored.
//
// Not thread-safe; copies share state.
class NamePattern {
 public:
  // Matches everything.
  NamePattern() : whole_prefix_(true) {}
  // kUsage: what is wrong with the pattern and where.
  static Result<NamePattern> glob(std::string_view pattern);
  static Result<NamePattern> regex(std::string_view expression);

  // kLimit: a regular expression that takes too many steps on this name.
  Result<bool> matches(std::string_view name) const;

  // All names that match begin with it.
  const std::string& literal_prefix() const { return prefix_; }
  // The literal prefix is the only name that matches.
  bool is_literal() const { return literal_; }
  // Every name that begins with the literal prefix matches.
  bool is_whole_prefix() const { return whole_prefix_; }

 private:
  struct Compiled;
  Status compile(const std::string& expression, bool utf, std::string_view shown);

  std::string prefix_;
  bool literal_ = false;
  bool whole_prefix_ = false;
  std::shared_ptr<Compiled> compiled_;  // none where the prefix says it all
};

}  // namespace nmb::tools
