// nmconvert: options and the calls of the library.
#pragma once

#include <optional>
#include <string>

#include "common/command_line/tool.h"
#include "common/options/compression_option.h"
#include "common/options/subset_option.h"
#include "nmconvert/batch_command.h"
#include "nmconvert/conversion.h"

namespace nmb::tools {

class ConvertCommand {
 public:
  explicit ConvertCommand(Tool& tool);
  Status execute();

 private:
  void offer_files(CLI::App& app);
  void offer_storage(CLI::App& app);
  void offer_list(CLI::App& app);
  void offer_run(CLI::App& app);
  Status check_arguments() const;
  Status check_block_by() const;
  Status check_layout() const;
  Status check_subset() const;
  Status check_series() const;
  Status execute_one(const ConversionOptions& options);
  // Whether INPUT becomes several files in the folder of --out-dir.
  bool writes_blocks() const { return batch_.block && !batch_.folder.empty() && !input_.empty(); }
  Status add_view();
  // These functions write the files that --original names. They are called on one rank only.
  Status give_back(const ConversionOptions& options);
  Status give_back_all(const FileReader& reader, ConversionOptions options);
  template <class Give>
  Status write_back(const std::string& output, const ConversionOptions& options, const Give& give);
  Status give_back_block(const FileReader& reader, const std::string& block,
                         const std::string& output, const ConversionOptions& options);
  std::string deciding_options() const;

  Tool& tool_;
  std::string input_, output_, output_option_, layout_, block_by_, regroup_, add_hdf5_view_,
      series_name_;
  std::optional<std::string> original_;
  SubsetTexts subset_;
  CompressionTexts compression_;
  ViewChoice view_;
  BatchArguments batch_;
  std::optional<std::uint32_t> inline_limit_;
  RecordedDigests digest_ = RecordedDigests::kNone;
  bool by_variable_ = false, repack_ = false, force_ = false, no_sync_ = false, no_lock_ = false,
       no_check_ = false, lossy_ = false, no_originals_ = false, no_history_ = false,
       keep_tracking_id_ = false, rebase_times_ = false;
};

}  // namespace nmb::tools
