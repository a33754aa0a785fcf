// nminspect ls: the names of blocks or objects, and what the index or their block says of them.
#pragma once

#include <optional>

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"
#include "nminspect/view_option.h"

namespace nmb::tools {

class LsCommand final : public InspectCommand {
 public:
  explicit LsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  template <class Row>
  Status list(const InspectedFile& file);

  PatternOption pattern_;
  ViewOption view_;
  bool long_ = false;
  std::string what_;  // empty: objects of a classic file, blocks of others
  std::string sort_;
  std::optional<std::uint64_t> limit_;
};

}  // namespace nmb::tools
