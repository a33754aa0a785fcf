// nminspect ls: the names of blocks or objects, and what the index or their block says of them.
#pragma once

#include <optional>

#include "common/json_document.h"
#include "nminspect/inspect_command.h"

namespace nmb::tools {

class LsCommand final : public InspectCommand {
 public:
  explicit LsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  template <class Row>
  Status list(const InspectedFile& file);

  std::optional<std::string> pattern_;
  bool regex_ = false;
  bool long_ = false;
  std::string what_;  // empty: blocks of an NMB file, objects of a classic one
  std::string sort_;
  std::optional<std::uint64_t> limit_;
};

}  // namespace nmb::tools
