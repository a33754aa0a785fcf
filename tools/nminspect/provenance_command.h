// nminspect provenance: shows the inputs from which a file was made.
#pragma once

#include "nminspect/inspect_command.h"

namespace nmb::tools {

class ProvenanceCommand final : public InspectCommand {
 public:
  explicit ProvenanceCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
};

}  // namespace nmb::tools
