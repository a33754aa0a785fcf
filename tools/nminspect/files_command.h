// nminspect files: lists other files in which values lie, and files that are stored whole.
#pragma once

#include "nminspect/inspect_command.h"

namespace nmb::tools {

class FilesCommand final : public InspectCommand {
 public:
  explicit FilesCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
};

}  // namespace nmb::tools
