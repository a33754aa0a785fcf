// nmverify --recover and --plan: recover blocks from a damaged NMB file, or say what a recovery
// would do.
#pragma once

#include <string>

#include "common/command_line/tool.h"
#include "recover/recover.h"

namespace nmb::tools {

class RecoverCommand {
 public:
  explicit RecoverCommand(Tool& tool) : tool_(tool) {}

  void offer(CLI::App& app);
  // Returns whether the arguments ask for a recovery or for a plan.
  bool is_wanted() const { return plan_ || !options_.output.empty(); }
  // Errors: kUsage if options exclude each other.
  Status check(const CLI::App& app, std::size_t files) const;
  // Recovers blocks, writes the report, and sets the exit code in the tool's diagnostics.
  Status run(const std::string& file, unsigned threads);

 private:
  std::string block_text(const FoundBlock& block) const;
  Status write_text(const std::string& file, const Recovery& recovery);
  Status write_document(const std::string& file, const Recovery& recovery);

  Tool& tool_;
  RecoveryOptions options_;
  bool plan_ = false, no_sync_ = false;
};

}  // namespace nmb::tools
