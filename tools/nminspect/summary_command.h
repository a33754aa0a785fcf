// nminspect summary: shows the contents of a file from its index alone.
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
