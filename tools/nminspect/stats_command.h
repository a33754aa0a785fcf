// nminspect stats: shows the statistics of values that are stored in a file.
#pragma once

#include <cstdint>
#include <string>

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"

namespace nmb::tools {

class StatsCommand final : public InspectCommand {
 public:
  explicit StatsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Status tell_missing(const std::string& file, std::uint64_t blocks, std::uint64_t without,
                      std::uint64_t histograms);

  PatternOption pattern_;
  bool histogram_ = false;
};

}  // namespace nmb::tools
