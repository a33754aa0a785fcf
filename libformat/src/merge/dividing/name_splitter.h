// NameSplitter: divides names that carry their group ("_grp_r1_x") by a regular expression with one
// capture.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

struct SplitName {
  std::string_view group;  // the first capture
  std::string_view rest;   // what follows the match
};

// Not thread-safe.
class NameSplitter {
 public:
  // kUsage: not a regular expression, or without a capture.
  static Result<NameSplitter> compile(const std::string& expression);
  NameSplitter(NameSplitter&&) noexcept;
  NameSplitter& operator=(NameSplitter&&) noexcept;
  ~NameSplitter();
  // nullopt: no match. Views into `name`. kLimit: more steps than a name of its length should take.
  Result<std::optional<SplitName>> split(std::string_view name);
  // Names that were divided as the one before them, without matching.
  std::uint64_t alike() const { return alike_; }

 private:
  struct Compiled;
  struct Match {
    std::size_t group, group_length, end;
  };
  explicit NameSplitter(std::unique_ptr<Compiled> compiled);
  static SplitName divide(std::string_view name, const Match& match);
  void remember(std::string_view name, const Match& match);

  std::unique_ptr<Compiled> compiled_;
  // What the last match took, if the expression takes just that from every name that begins so.
  std::string known_;
  Match known_match_{};
  std::uint64_t alike_ = 0;
};

}  // namespace nmb
