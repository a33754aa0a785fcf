// nminspect stats: shows statistics of values that the file keeps.
#pragma once

#include <cstdint>

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"

namespace nmb::tools {

class StatsCommand final : public InspectCommand {
 public:
  explicit StatsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;

  PatternOption pattern_;
  bool histogram_ = false;
};

}  // namespace nmb::tools
