// nminspect find: finds blocks by their attributes and statistics.
#pragma once

#include <string>

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"

namespace nmb::tools {

class FindCommand final : public InspectCommand {
 public:
  explicit FindCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;

  std::string expression_;
  bool no_values_ = false;
  PatternOption pattern_;
};

}  // namespace nmb::tools
