// InputPlanner: decides for each input whether its blocks stay unchanged, are divided, or are
// united to one block, and names the resulting blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "merge/dividing/block_template.h"
#include "merge/dividing/input_division.h"
#include "merge/dividing/split_dataset.h"
#include "merge/dividing/variable_assigner.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/input_reader.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "merge/uniting/dataset_union.h"

namespace nmb {

class InputPlanner : public MergeStep {
 public:
  // Receives a block name that no other input may use (see SharedNames::note_group()).
  using NoteGroup = std::function<void(const std::string& group)>;

  // views: the pool of open sources that show blocks of kind 6 as classic files. chooser: chooses
  // the blocks; nullptr if all blocks are taken; must outlive the object. Errors: kUsage if the
  // options are invalid.
  static Result<std::unique_ptr<InputPlanner>> make(const MergeStep& step, NoteGroup note_group,
                                                    std::shared_ptr<SourcePool> views,
                                                    BlockChooser* chooser);

  // Passes the blocks of an input to `sink`. index: position of the input in the list of inputs.
  // Errors: kLimit, and all errors of InputReader::read() and of `sink`.
  Status plan(std::size_t index, Source file, MergeSink& sink);
  // Calls InputReader::choose().
  Status choose(std::size_t index, Source file) { return reader_->choose(index, std::move(file)); }

  // Limits reading ahead: an input is read ahead only if its position in the list is less than
  // `end`.
  void set_end(std::size_t end) { reader_->set_end(end); }

  // Calls InputReader::take_extras().
  InputExtras take_extras() { return reader_->take_extras(); }

  InputCounts& counts() { return reader_->counts(); }

 private:
  using By = BlockRule::By;

  InputPlanner(const MergeStep& step, NoteGroup note_group, std::shared_ptr<SourcePool> views)
      : MergeStep(step), note_name_(std::move(note_group)), views_(std::move(views)) {}
  Status prepare_names();
  Status prepare_division();
  void prepare_reader(BlockChooser* chooser);

  Result<bool> plan_block(InputBlock& block);
  void report_group_conflicts();
  bool check_template(const InputBlock& block);
  const BlockTemplate& names_of(bool has_groups) const { return names_->of(has_groups); }
  Result<OutputName> name_of(const std::string& group) const;
  void note_group(const std::string& group);
  Status take_whole(InputBlock& block, const std::string& group);
  Result<ClassicForm> form_of(const InputBlock& block) const;
  Status survey(const InputBlock& block);
  void end_survey();
  void note_names(const std::string& group, const Metadata& metadata);
  void find_clashes();
  Result<bool> is_divided(const InputBlock& block, const ClassicForm& form);
  SplitDataset::Input split_input(const std::string& group, const ClassicForm& form) const;
  Status divide(InputBlock& block);
  Status take_forced(const InputBlock& block, const ClassicForm& form, const std::string& group);
  Result<std::optional<std::string>> value_of(const InputBlock& block, const ClassicForm& form);
  bool is_parent(const InputBlock& block) const;
  void note(SplitConflict conflict);
  Status take_part(DatasetPart part);
  Result<std::vector<NameCapture>> captures_of(const DatasetPart& part);
  Status unite(const InputBlock& block);
  Status take_union();

  // The input that is being planned.
  struct Input {
    std::size_t index = 0;
    Source file;
    MergeSink* sink = nullptr;
    std::uint64_t blocks = 0;  // number of blocks visited
    bool has_groups = false;   // block names are made from a template that contains {group}
    bool is_divided = false;   // at least one block is divided
    // The path, the definitions and the values of the block that is being divided.
    std::string group;
    const Metadata* divided = nullptr;
    Source values;
    std::string origin;
  };

  const NoteGroup note_name_;
  const std::shared_ptr<SourcePool> views_;
  std::optional<BlockNames> names_;
  By by_ = By::kGroup;
  std::optional<SplitDataset> splitter_;  // set if blocks are divided
  std::optional<InputReader> reader_;
  Input input_;
  InputDivision
      division_;  // how each block of the input is handled; used if some blocks came from HDF5
  bool is_surveyed_ = false;
  // Used if blocks came from HDF5. For each block that was taken: the names of all objects in its
  // HDF5 group. The key is the block's path before the template is applied.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> taken_;
  bool is_surveying_ = false;  // true during the survey, which records no conflicts because
                               // divide() finds them again
  std::optional<DatasetUnion> united_;  // for kOne: the dataset that unites all groups of the input
  // For kOne: conflicts between the groups of the input. For each kind and object: the first
  // conflict, and the number of further ones.
  std::map<std::pair<ConflictKind, std::string>, std::pair<UnionNote, std::uint64_t>> in_groups_;
};

}  // namespace nmb
