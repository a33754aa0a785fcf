// nminspect ls: the names of blocks or objects, and what the index or their block says of them.
#pragma once

#include <optional>

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"

namespace nmb::tools {

class LsCommand final : public InspectCommand {
 public:
  explicit LsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  template <class Row>
  Status list(const InspectedFile& file);

  PatternOption pattern_;
  bool long_ = false;
  std::string what_;  // empty: blocks of an NMB file, objects of a classic one
  std::string sort_;
  std::optional<std::uint64_t> limit_;
};

}  // namespace nmb::tools
