// ClassicOutput: writes a merge result as a classic file. The result must have exactly one block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "convert/classic_file.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "merge/uniting/sent_values.h"
#include "model/dataset.h"
#include "sources/late_values.h"

namespace nmb {

class ClassicOutput final : public MergeSink, public MergeStep {
 public:
  // PackOptions::classic must be set.
  ClassicOutput(const MergeStep& step, std::shared_ptr<SourcePool> views)
      : MergeStep(step), views_(std::move(views)), kind_(*options_.classic) {}

  void begin_input(Source file) override { file_ = std::move(file); }
  Status take_whole(const OutputName& name, InputBlock& block) override;
  Status take_part(const OutputName& name, InputPart part) override;

  // Reports a conflict unless there is exactly one block. With PackOptions::kind_of_inputs, chooses
  // a kind that can hold the block.
  void check();
  // Collective. Rank 0 has the block and sends the other ranks descriptions of the values that they
  // write. check_inputs: called by rank 0 before the file is published. from: how the other ranks
  // open inputs and values.
  Status write(const ReceivedFrom& from, const std::function<Status()>& check_inputs) const;
  // Describes the file that write() would write. Called only by rank 0. Errors: kConflict if the
  // kind of the output cannot hold the block.
  Status describe_plan(PackPlan* plan) const;

 private:
  bool is_first(const OutputName& name);
  void choose_kind();
  Result<std::vector<ClassicFile::Values>> deal(const ReceivedFrom& from, Source values,
                                                std::uint64_t length) const;
  void count() const;
  Status describe() const;

  const std::shared_ptr<SourcePool> views_;
  Source file_;
  std::uint64_t blocks_ = 0;
  OutputName name_;        // of the only block
  std::size_t input_ = 0;  // the first input that has the block
  std::shared_ptr<const Dataset> only_;
  Kind kind_;  // valid on rank 0
};

}  // namespace nmb
