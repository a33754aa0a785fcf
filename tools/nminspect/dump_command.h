// nminspect dump: shows the values of a variable.
#pragma once

#include <optional>

#include "nminspect/inspect_command.h"
#include "nminspect/view_option.h"

namespace nmb::tools {

class DumpCommand final : public InspectCommand {
 public:
  explicit DumpCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;

  std::string object_;
  std::optional<std::string> slab_;
  ViewOption view_;
};

}  // namespace nmb::tools
