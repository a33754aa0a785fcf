// nminspect diff: shows the differences between two files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "nminspect/inspect_command.h"

namespace nmb::tools {

class DiffCommand final : public InspectCommand {
 public:
  explicit DiffCommand(Tool& tool);
  Status execute() override;

 private:
  Status run(const InspectedFile& file) override;
  std::vector<std::string> other_files() const override { return {other_}; }

  std::string other_;
  std::string tolerance_;
  ComparisonOptions options_;
  bool stat_ = false;
};

}  // namespace nmb::tools
