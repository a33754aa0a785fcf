// nmverify --against: compares a file with the files from which nmcat made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/command_line/tool.h"
#include "common/options/merge_rules.h"
#include "common/options/subset_option.h"
#include "handles/inspected_file.h"
#include "merge/reporting/merge.h"
#include "parallel/communicator.h"

namespace nmb::tools {

class AgainstCommand {
 public:
  explicit AgainstCommand(Tool& tool) : tool_(tool) {}
  void offer(CLI::App& app);
  bool is_wanted() const { return !sources_.empty() || !sources_from_.empty(); }
  // Checks the options of the command line. `files` is the number of files to verify. Errors:
  // kUsage.
  Status check(const CLI::App& app, std::size_t files) const;
  // Compares `file` with the sources, which all ranks share. Writes the differences to standard
  // output, and raises the exit code. The output is the same for any number of ranks. block_name:
  // the template of --block-name; nullopt for the recorded one. merge: the options of --mode and
  // others; if --mode is not given, those that the file records are used. rules: where these
  // options come from. rate: as in VerifierOptions. Collective.
  Status run(const std::string& file, const std::optional<std::string>& block_name,
             const PackOptions& merge, const MergeRules& rules, std::uint64_t rate,
             Communicator& ranks, unsigned threads);

 private:
  Result<std::optional<PackOptions>> merge_of(const InspectedFile& file, const PackOptions& given);
  Status gather_sources(Communicator& ranks);

  Tool& tool_;
  SubsetTexts subset_;
  std::vector<std::string> sources_;
  std::string sources_from_;
};

}  // namespace nmb::tools
