// nminspect count: one number.
#pragma once

#include <optional>

#include "nminspect/inspect_command.h"

namespace nmb::tools {

class CountCommand final : public InspectCommand {
 public:
  explicit CountCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Result<std::uint64_t> count(const InspectedFile& file) const;

  std::string what_ = "objects";
  std::optional<std::string> pattern_;
  bool regex_ = false;
};

}  // namespace nmb::tools
