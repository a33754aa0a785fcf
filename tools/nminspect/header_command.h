// nminspect header: shows the definitions of one block or of all blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dump/dump.h"
#include "nminspect/inspect_command.h"
#include "nminspect/view_option.h"

namespace nmb::tools {

class HeaderCommand final : public InspectCommand {
 public:
  explicit HeaderCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  CdlForm form() const { return exact_ ? CdlForm::kExact : CdlForm::kNcdump; }
  Status write_file(const InspectedFile& file);
  Status write_json_list(const InspectedFile& file);
  // Returns true, which continues for_each_entry().
  Result<bool> write(const InspectedFile& file, const BlockEntry& entry);
  Status write(const InspectedFile& file, std::string_view block, const Dataset& dataset);

  std::optional<std::string> block_;
  bool cdl_ = false, ncml_ = false, exact_ = false;
  ViewOption view_;
};

}  // namespace nmb::tools
