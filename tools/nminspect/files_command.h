// nminspect files: lists the originals of an NMB file, and the external files that contain values.
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
