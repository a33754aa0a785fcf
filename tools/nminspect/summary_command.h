// nminspect summary: what a file holds, from its index alone.
#pragma once

#include "nminspect/inspect_command.h"

namespace nmb::tools {

class SummaryCommand final : public InspectCommand {
 public:
  explicit SummaryCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
};

}  // namespace nmb::tools
