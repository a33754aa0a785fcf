// PlannedInputs: the inputs that a rank opens. Their blocks are planned, and what else is known of
// them is kept until the output is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merge/dividing/input_planner.h"
#include "merge/reading/block_sink.h"
#include "merge/reading/input_shares.h"
#include "merge/reading/planned_input.h"
#include "merge/reporting/conflict_list.h"
#include "merge/storing/shared_names.h"
#include "merge/storing/written_blocks.h"
#include "merge/uniting/input_describer.h"
#include "merge/uniting/sent_values.h"
#include "nmb/communicator.h"
#include "nmb/merge.h"
#include "nmb/status.h"
#include "wire/pooled_file.h"

namespace nmb {

class PlannedInputs {
 public:
  // All must outlive this.
  PlannedInputs(const PackOptions& options, PackReport& report, Communicator& ranks,
                ConflictList& conflicts, SharedNames& names)
      : options_(options), report_(report), ranks_(ranks), conflicts_(conflicts), names_(names) {}

  // Opens nothing. kUsage: options.
  Status prepare();
  // What is known before anything is written or an unfinished output opened: no output is an input.
  // What else inputs refer to is known when they are read.
  Status check_outputs() const;
  // Ahead of opening a file that is there, which a writer may mend.
  Status look_at_all();

  // How values of other ranks are opened; how inputs are.
  const ReceivedFrom& from() const { return from_; }

  // Inputs from `end` on are not begun ahead of their turn: they are not planned next, or not here.
  void set_end(std::size_t end) { planner_->set_end(end); }
  // Hands on the blocks of inputs. A failure is the run's.
  Status take(InputShare share, BlockSink& sink);
  Status take(std::size_t index, BlockSink& sink);
  // Describes them for rank 0. Stops at an input that rank 0 stops at.
  Status describe(InputShare share, InputDescriber& describer);
  // An input that another rank described, for blocks that no other input has.
  Status read_again(std::size_t index, BlockSink& sink);
  // What counts of an input that was read, here or by another rank. A failure is the run's.
  Status settle(PlannedInput input);
  // What NMB inputs have beside their blocks, and what was not taken over with these. blocks:
  // nullptr: there are none.
  void tell_losses(const WrittenBlocks* blocks);

  // No more are planned: the memory for it is free from now on.
  void end_planning();
  // Then: some block was divided.
  bool has_divided() const { return has_divided_; }
  // See InputReader::whole_files().
  std::uint64_t whole_files() const { return whole_files_; }
  // Bytes in memory to load the largest block.
  std::uint64_t largest_load() const { return largest_load_; }

  // kDamaged: one changed while it was read.
  Status check_unchanged() const;

 private:
  void tell_repeated();
  void note_group(const std::string& group);
  bool is_cancelled() const { return options_.writer.cancel && options_.writer.cancel->load(); }
  Status interrupted() const {
    return Status(Code::kIo, options_.output, kNoOffset, "", "interrupted");
  }
  // false: it is left to rank 0, as it has values that cannot be described.
  bool open_and_plan(std::size_t index, BlockSink& sink, PlannedInput* input);
  void tell_losses(std::size_t input, const InputExtras& extras, WrittenBlocks::KeptBlocks kept);

  const PackOptions& options_;
  PackReport& report_;
  Communicator& ranks_;
  ConflictList& conflicts_;
  SharedNames& names_;
  ReceivedFrom from_;
  std::unique_ptr<InputPlanner> planner_;
  InputDescriber* describer_ = nullptr;  // that takes what is planned
  bool is_reading_again_ = false;
  bool has_divided_ = false;
  std::uint64_t largest_load_ = 0;
  std::uint64_t whole_files_ = 0;
  std::vector<std::shared_ptr<PooledFile>> files_;           // that were opened
  std::vector<std::pair<std::size_t, InputExtras>> extras_;  // by input; of NMB inputs
};

}  // namespace nmb
