// NameSplitter: divides names that contain their group ("_grp_r1_x") by a regular expression with
// one capture.
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
  std::string_view rest;   // everything after the match
};

// Not thread-safe.
class NameSplitter {
 public:
  // Errors: kUsage if it is not a regular expression or has no capture.
  static Result<NameSplitter> compile(const std::string& expression);
  NameSplitter(NameSplitter&&) noexcept;
  NameSplitter& operator=(NameSplitter&&) noexcept;
  ~NameSplitter();
  // nullopt: no match. The views are parts of `name`. Errors: kLimit if the match takes more steps
  // than it should for a name of this length.
  Result<std::optional<SplitName>> split(std::string_view name);
  // Returns how many names were divided like the name before them, without matching.
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
  // The last match, if the expression matches exactly this at the beginning of every name that
  // begins with it.
  std::string known_;
  Match known_match_{};
  std::uint64_t alike_ = 0;
};

}  // namespace nmb
