// nminspect digest: shows digests of the content of blocks and of the whole file.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.h"
#include "nminspect/inspect_command.h"

namespace nmb::tools {

class DigestCommand final : public InspectCommand {
 public:
  explicit DigestCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Status run_lines(const InspectedFile& file, const std::vector<BlockEntry>& chosen);
  Status run_json(const InspectedFile& file, const std::vector<BlockEntry>& chosen);
  ContentOptions options() const;

  std::vector<std::string> blocks_;
  bool total_ = false;
};

}  // namespace nmb::tools
