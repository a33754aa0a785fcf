// nmverify --set: checks whether nmcat would merge files. Nothing is written.
#pragma once

#include <string>
#include <vector>

#include "common/command_line/tool.h"
#include "common/options/merge_rules.h"
#include "merge/reporting/merge.h"
#include "parallel/communicator.h"

namespace nmb::tools {

class SetCommand {
 public:
  explicit SetCommand(Tool& tool) : tool_(tool), rules_(&options_) {}
  void offer(CLI::App& app);
  bool is_wanted() const { return is_set_; }
  // Returns the template of --block-name; empty if the option is not given.
  const std::string& block_name() const { return options_.block_name; }
  // Returns how files are merged. Valid after check().
  const PackOptions& merge() const { return options_; }
  const MergeRules& rules() const { return rules_; }
  // Checks the options of the command line. is_against: whether --against is given, which has the
  // same options. Errors: kUsage.
  Status check(const CLI::App& app, bool is_against);
  // Plans the merge, as nmcat does. Shows all conflicts, and raises the exit code. Runs on all
  // ranks, which get the same outcome.
  Status run(std::vector<std::string> files);

 private:
  Status gather_files(Communicator& ranks);
  Status plan(PackReport* report, bool* tells);
  Status write_result(const PackReport& report, const Status& status);

  Tool& tool_;
  PackOptions options_;
  MergeRules rules_;
  bool is_set_ = false;
};

}  // namespace nmb::tools
