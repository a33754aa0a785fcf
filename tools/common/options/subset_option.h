// The options --variables, --slab, --time and --box, which select a part of the inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/command_line/tool.h"
#include "netcdf/subset.h"
#include "wire/failure.h"

namespace nmb::tools {

// The texts of the options. A list is empty, and `time` is not set, if the option was not given.
struct SubsetTexts {
  std::vector<std::string> variables, slabs, boxes;
  std::optional<std::string> time;

  void offer(CLI::App& app);
  // Returns nullopt if none of the options was given. Errors: kUsage.
  Result<std::optional<SubsetRules>> parse() const;
};

// The names of the options.
inline constexpr const char* kSubsetOptions[] = {"--variables", "--slab", "--time", "--box"};

}  // namespace nmb::tools
