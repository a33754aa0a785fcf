// nminspect ls: lists the names of blocks or objects, with details from the index or the blocks.
#pragma once

#include <optional>

#include "nminspect/inspect_command.h"
#include "nminspect/ls_rows.h"
#include "nminspect/pattern_option.h"
#include "nminspect/view_option.h"

namespace nmb::tools {

class LsCommand final : public InspectCommand {
 public:
  explicit LsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Result<bool> lists_objects(const InspectedFile& file) const;
  template <class Row>
  Status list(const InspectedFile& file, const ListedColumns& listed);

  PatternOption pattern_;
  ViewOption view_;
  bool long_ = false, tags_ = false;
  std::string what_;  // empty: "objects" for a classic file, "blocks" for other files
  std::string sort_;
  std::optional<std::uint64_t> limit_;
};

}  // namespace nmb::tools
