// nminspect layout: shows what each byte of a file holds.
#pragma once

#include <string>

#include "nminspect/inspect_command.h"
#include "nminspect/layout/layout_files.h"

namespace nmb::tools {

class LayoutCommand final : public InspectCommand {
 public:
  explicit LayoutCommand(Tool& tool);
  Status execute() override;

 private:
  Status run(const InspectedFile& file) override;
  Status check_outputs(const InspectedFile& file) const;
  Status write_text(const InspectedFile& file, const Layout& layout);
  Status write_columns(const InspectedFile& file, const Layout& layout);
  Status write_document(const InspectedFile& file, const Layout& layout);
  Status write_lines(const InspectedFile& file, const Layout& layout);
  Status write_map(const Layout& layout);
  Status write_file(const InspectedFile& file, const Layout& layout);

  std::string svg_, html_;  // outputs; at most one is not empty
  bool force_ = false;
  bool no_sync_ = false;
  std::uint64_t limit_ = 5;
  CLI::Option* limit_option_ = nullptr;
};

}  // namespace nmb::tools
