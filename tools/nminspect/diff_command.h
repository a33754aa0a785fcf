// nminspect diff: shows the differences between two files.
#pragma once

#include <cstdint>
#include <string>

#include "nmb/compare.h"
#include "nminspect/inspect_command.h"

namespace nmb::tools {

class DiffCommand final : public InspectCommand {
 public:
  explicit DiffCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Status compare(const InspectedFile& file);

  std::string other_;
  std::string tolerance_;
  std::uint64_t most_first_ = 3;
  bool stat_ = false;
};

}  // namespace nmb::tools
