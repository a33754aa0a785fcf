// NameSplitter: divides names that carry their group ("_grp_r1_x") by a regular expression with one
// capture.
#pragma once

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
  Result<std::optional<SplitName>> split(std::string_view name) const;

 private:
  struct Compiled;
  explicit NameSplitter(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace nmb
