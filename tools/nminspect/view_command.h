// nminspect view: lists the objects that an HDF5 view leaves out.
#pragma once

#include "nminspect/inspect_command.h"

namespace nmb::tools {

class ViewCommand final : public InspectCommand {
 public:
  explicit ViewCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
};

}  // namespace nmb::tools
