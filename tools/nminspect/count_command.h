// nminspect count: prints one number.
#pragma once

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"

namespace nmb::tools {

class CountCommand final : public InspectCommand {
 public:
  explicit CountCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Result<std::uint64_t> count(const InspectedFile& file) const;

  std::string what_ = "objects";
  PatternOption pattern_;
};

}  // namespace nmb::tools
