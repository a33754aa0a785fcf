// nminspect summary: shows the kind, size and totals of a file.
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
