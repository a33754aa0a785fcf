// NameSplitter: divides names such as "_grp_r1_x", which contain the name of a group, by a regular
// expression with one capture. As in NamePattern, the expression has the syntax of PCRE2 with
// UTF-8.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/failure.h"

namespace nmb {

struct SplitName {
  std::string_view group;  // the first capture
  std::string_view rest;   // the text after the match
};

// Not thread-safe.
class NameSplitter {
 public:
  // Errors: kUsage if `expression` is not a valid regular expression or has no capture.
  static Result<NameSplitter> compile(const std::string& expression);
  NameSplitter(NameSplitter&&) noexcept;
  NameSplitter& operator=(NameSplitter&&) noexcept;
  ~NameSplitter();
  // Returns nullopt if the expression does not match. The returned views refer to `name`. Errors:
  // kLimit if matching takes too many steps.
  Result<std::optional<SplitName>> split(std::string_view name);
  // Returns the captures of the first match in `name`: element i is capture i + 1, or nullopt if
  // this capture is not part of the match. Returns no elements if the expression does not match.
  // The views refer to `name`. Errors: as for split().
  using Captures = std::vector<std::optional<std::string_view>>;
  Result<Captures> captures(std::string_view name);
  // Returns the number of captures in the expression.
  std::size_t count() const;
  // Returns how many names were divided like the previous name, without a run of the regular
  // expression.
  std::uint64_t alike() const { return alike_; }

 private:
  struct Compiled;
  struct Match {
    std::size_t group, group_length, end;
  };
  explicit NameSplitter(std::unique_ptr<Compiled> compiled);
  static SplitName divide(std::string_view name, const Match& match);
  Result<int> match(std::string_view name);
  void remember(std::string_view name, const Match& match);

  std::unique_ptr<Compiled> compiled_;
  // The text of the last match. The text is kept only if the expression matches exactly this text
  // in every name that begins with the text.
  std::string known_;
  Match known_match_{};
  std::uint64_t alike_ = 0;
};

}  // namespace nmb
