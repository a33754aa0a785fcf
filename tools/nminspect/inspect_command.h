// InspectCommand: a subcommand of nminspect with its options.
#pragma once

#include <string>

#include "common/inspected_file.h"
#include "common/tool.h"

namespace nmb::tools {

class InspectCommand {
 public:
  virtual ~InspectCommand() = default;
  InspectCommand(const InspectCommand&) = delete;
  InspectCommand& operator=(const InspectCommand&) = delete;

  // Returns whether the user chose this subcommand.
  bool chosen() const { return command_.parsed(); }
  // Opens the file, shows its warnings and runs the subcommand. With --io-stats, also shows how
  // many reads and bytes were needed.
  virtual Status execute();

 protected:
  // Adds FILE, --strict and --io-stats.
  InspectCommand(Tool& tool, const std::string& name, const HelpText& help);

  virtual Status run(const InspectedFile& file) = 0;

  Tool& tool_;
  CLI::App& command_;

 private:
  Status run_on(std::shared_ptr<const InputFile> file);

  std::string path_;
  bool io_stats_ = false;
};

}  // namespace nmb::tools
