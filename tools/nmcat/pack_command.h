// nmcat: options, the call of the library, and messages about the result.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line/tool.h"
#include "common/options/compression_option.h"
#include "common/options/hdf5_view_option.h"
#include "common/options/merge_rules.h"
#include "common/options/subset_option.h"
#include "common/printing/json_document.h"
#include "merge/reporting/merge.h"
#include "parallel/communicator.h"

namespace nmb::tools {

class PackCommand {
 public:
  explicit PackCommand(Tool& tool);
  Status execute();

 private:
  void offer_files(CLI::App& app);
  void offer_tags(CLI::App& app);
  void offer_choice_of_blocks(CLI::App& app);
  void offer_storage(CLI::App& app);
  void offer_run(CLI::App& app);
  Status take_output();
  Status take_storage();
  Result<Hdf5View> view_to_make() const;
  Status take_choice();
  bool packs() const { return rules_.mode() == "pack"; }
  Status check_mode() const;
  std::optional<BlockChoice>& choice();
  Status read_block_list();
  std::string needs_pack(const char* option) const;
  std::string hint_of_digest() const;
  bool begins_with_hdf5() const;
  Result<bool> selects_from_one_archive(const PackOptions& options) const;
  Status take_run();
  Status accept_losses(const FileReader& between, const Hdf5Losses& lost, PackReport* report);
  Json decisive_options() const;
  std::string resume_text() const;
  std::string provenance(const std::vector<PackSource>& sources) const;
  void report_what_stays(const PackReport& report);
  Status gather_inputs();
  Status gather_inputs_of_first(Communicator& ranks);
  Status add_outputs();
  Status check_files();
  Status start_report();
  Status take_io();
  Status merge(PackReport* report, bool* tells);
  Status conclude(const PackReport& report, const Status& status);
  std::vector<std::pair<std::string, std::string>> loss_lines(
      const std::vector<PackLoss>& losses) const;
  std::string without_tag_text(std::size_t number, std::uint64_t blocks) const;
  void tell(const PackReport& report);
  Status report_result(const PackReport& report, const Status& status);
  Result<Json> report_json(const PackReport& report, const Status& status) const;
  Status write_report(const Json& json);
  Result<std::string> digest_of_file(const std::string& path) const;

  Tool& tool_;
  PackOptions options_;
  Pack pack_;  // the rules of mode pack
  MergeRules rules_;
  std::vector<std::string> tags_;
  std::string report_path_;
  std::string blocks_from_, shard_, where_;
  std::uint64_t seed_ = 0;
  std::vector<std::string> excluded_;
  std::string to_, statistics_ = "none";
  SubsetTexts subset_;
  CompressionTexts compression_;
  ViewChoice view_;
  std::vector<std::string> hints_;
  bool lossy_ = false;
  RecordedDigests digest_ = RecordedDigests::kNone;
  std::vector<std::string> losses_;       // messages about content that OUT does not have
  std::vector<std::string> not_written_;  // warnings about content that an HDF5 OUT never has
  double seconds_ = 0;                    // the merge's, after the ranks have started
  bool no_sync_ = false, no_history_ = false;
  std::string block_list_;  // --blocks-from in reports: the number of names and their SHA-256
  bool resume_ = false, no_provenance_ = false, no_lock_ = false, no_originals_ = false;
  std::unique_ptr<OutputFile> report_file_;  // nullptr if no report is to be written
};

}  // namespace nmb::tools
