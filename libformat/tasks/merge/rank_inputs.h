// RankInputs: opens and plans the inputs of a rank. Keeps facts about the inputs until the
// output has been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/pooled_file.h"
#include "merge/dividing/input_planner.h"
#include "merge/reading/block_chooser.h"
#include "merge/reading/input_outcome.h"
#include "merge/reading/input_shares.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "merge/storing/merge_writer.h"
#include "merge/storing/shared_names.h"
#include "merge/uniting/input_describer.h"
#include "merge/uniting/sent_values.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

class RankInputs : public MergeStep {
 public:
  // `names` must outlive the object.
  RankInputs(const MergeStep& step, SharedNames& names) : MergeStep(step), names_(names) {}

  // Prepares for planning without opening an input. Errors: kUsage if the options are invalid.
  Status prepare();
  // Checks that no output is also an input. Call this before anything is written and before an
  // unfinished output is opened. Files to which inputs refer are usually checked later, when the
  // inputs are read.
  Status check_outputs() const;
  // Checks that every input has a known kind of file. Call this before an existing output is
  // opened, because the writer may repair that output.
  Status look_at_all();

  // Returns the settings with which this rank opens inputs and received values.
  const ReceivedFrom& from() const { return from_; }

  // Limits reading ahead: an input is read ahead only if its position in the list is less than
  // `end`.
  void set_end(std::size_t end) { planner_->set_end(end); }
  // Collective. If blocks are chosen by their number, determines the number of the first block of
  // `share`. The ranks' shares must be in the order of ranks. Call this before take().
  Status number_blocks(InputShare share);
  // Passes the blocks of inputs to `sink`. An error is returned only if the whole run must stop.
  Status take(InputShare share, MergeSink& sink);
  Status take(std::size_t index, MergeSink& sink);
  // Describes the inputs of `share` for rank 0. Stops at an input that makes the whole run fail.
  Status describe(InputShare share, InputDescriber& describer);
  // Reads an input that was read before, perhaps by another rank, and passes its blocks to `sink`.
  // No conflict or warning is reported a second time.
  Status read_again(std::size_t index, MergeSink& sink);
  // Adds the results of an input, which this rank or another rank has read, to the report. An error
  // is returned only if the whole run must stop.
  Status settle(InputOutcome input);
  // Reports which contents of NMB inputs the output does not keep. blocks: the blocks that were
  // taken; nullptr if there are none.
  void report_losses(const MergeWriter* blocks);

  // Frees the memory that planning needed. No input can be planned afterwards.
  void end_planning();
  // Returns the counts of all inputs. Valid after end_planning().
  const InputCounts& counts() const { return counts_; }
  // Collective. Calls BlockChooser::check() if Pack::choice is set.
  Status check_choice(Status* failure);
  // Errors: kDamaged if an input changed while it was read.
  Status check_unchanged() const;

 private:
  void report_repeated();
  void note_group(const std::string& group);
  bool is_cancelled() const { return options_.writer.cancel && options_.writer.cancel->load(); }
  Status interrupted() const {
    return Status(Code::kIo, options_.output, kNoOffset, "", "interrupted");
  }
  // Returns false if a message cannot describe the input's values. Rank 0 then reads the input
  // itself.
  bool open_and_plan(std::size_t index, MergeSink& sink, InputOutcome* input);
  void plan_source(Source source, MergeSink& sink, InputOutcome* input);
  void report_losses(std::size_t input, const InputExtras& extras, MergeWriter::KeptCounts kept);

  SharedNames& names_;
  ReceivedFrom from_;
  std::unique_ptr<InputPlanner> planner_;
  InputDescriber* describer_ = nullptr;  // set if this rank describes its blocks for rank 0
  bool is_reading_again_ = false;
  InputCounts counts_;
  std::optional<BlockChooser> chooser_;  // set if Pack::choice is set
  // BlockChooser::position() after the last input, if number_blocks() has counted the blocks.
  std::optional<std::uint64_t> last_position_;
  std::vector<std::shared_ptr<PooledFile>> files_;
  // For each NMB input: its position in the list of inputs, and its extras.
  std::vector<std::pair<std::size_t, InputExtras>> extras_;
};

}  // namespace nmb
