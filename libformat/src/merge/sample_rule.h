// SampleRule: how many samples a block counts for (--samples).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

class SampleRule {
 public:
  enum class By { kDefault, kVariables, kDimension, kGroup, kNone };
  // kUsage.
  static Result<SampleRule> parse(std::string_view text);
  By by() const { return by_; }
  std::uint64_t variables_per_sample() const { return divisor_; }
  const std::string& dimension() const { return dimension_; }

  // Samples of a block with these definitions; `group`: its path in its input, "" for the root.
  // kConflict: the variables leave a remainder.
  Result<std::uint64_t> count(const Metadata& metadata, std::uint64_t records,
                              std::string_view group) const;

 private:
  By by_ = By::kDefault;
  std::uint64_t divisor_ = 1;
  std::string dimension_;
};

}  // namespace nmb
