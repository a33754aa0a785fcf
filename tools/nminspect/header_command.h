// nminspect header: the definitions of a block.
#pragma once

#include <optional>

#include "nminspect/inspect_command.h"
#include "nminspect/view_option.h"

namespace nmb::tools {

class HeaderCommand final : public InspectCommand {
 public:
  explicit HeaderCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;

  std::optional<std::string> block_;
  bool cdl_ = false;
  ViewOption view_;
};

}  // namespace nmb::tools
