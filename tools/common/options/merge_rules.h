// MergeRules: the options that say how files are merged, and the messages about files that cannot
// be merged. nmcat merges files; nmverify checks whether files can be merged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/command_line/tool.h"
#include "common/printing/json_document.h"
#include "merge/reporting/merge.h"

namespace nmb::tools {

class MergeRules {
 public:
  // The options are stored in *options, which must outlive this object.
  explicit MergeRules(PackOptions* options) : options_(options) {}

  // Adds --mode and --block-name.
  void offer_mode(CLI::App& app);
  // Adds options that control which differences are allowed between blocks of the same name.
  void offer_agreement(CLI::App& app);
  // Adds options for dividing inputs, for samples, and for the order of inputs.
  void offer_blocks(CLI::App& app);
  // Checks the options and completes *options. Errors: kUsage.
  Status take();
  const std::string& mode() const { return mode_; }
  // Returns the first option except --block-name that the command line has, or nullptr.
  const CLI::Option* first_given() const;
  // Adds the inputs of --files-from, and sorts the inputs if --sort name is given.
  Status gather_inputs(const CommonOptions& common);
  // If --atts list is given, shows each attribute that differs. inputs: the number of inputs.
  void report_differing(const PackReport& report, std::size_t inputs,
                        Diagnostics& diagnostics) const;

 private:
  // An option, and the modes that have it.
  struct Offered {
    const CLI::Option* option;
    std::string_view modes;
  };
  // Says which modes have the option that was added last.
  void in_modes(const CLI::App& app, std::string_view modes);
  Status check_mode() const;

  PackOptions* const options_;
  std::string mode_ = "pack";
  Join join_;  // the rules that several modes have too
  Agreement agreement_;
  std::vector<Offered> offered_;
  std::string split_names_, sort_ = "given", samples_;
  std::string atts_ = "first";
  bool keep_tracking_id_ = false;
};

// Shows the inputs that could not be read.
void report_unreadable(Tool& tool, const PackReport& report);
// If the blocks of an NMB file counted as inputs, says so and names their order.
void note_archive(Tool& tool, const PackReport& report, const std::vector<std::string>& inputs);
// Shows the conflicts; one that occurs in several inputs is shown once. `inputs` is the number of
// inputs.
void report_conflicts(Tool& tool, const PackReport& report, std::size_t inputs);
// Returns the errors of inputs. If there is neither an error nor a conflict, returns the failure
// `status`.
Json errors_json(const PackReport& report, const Status& status);
// Returns the lists of conflicts and differences.
Json agreement_json(const PackReport& report);

}  // namespace nmb::tools
