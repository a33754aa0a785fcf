// PlannedBlocks: passes the definitions of the resulting blocks of a merge to
// PackOptions::on_block.
#pragma once

#include <memory>
#include <utility>

#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "model/classic.h"
#include "model/dataset.h"

namespace nmb {

class PlannedBlocks final : public MergeSink, public MergeStep {
 public:
  explicit PlannedBlocks(const MergeStep& step) : MergeStep(step) {}

  void begin_input(Source file) override { file_ = std::move(file); }
  Status take_whole(const OutputName& name, InputBlock& block) override {
    return pass_on(name, std::make_shared<Dataset>(block.dataset));
  }
  Status take_part(const OutputName& name, InputPart part) override {
    auto dataset = std::make_shared<Dataset>();
    dataset->metadata = part.metadata;
    NMB_ASSIGN(dataset->layout, layout_classic(dataset->metadata, Kind::kCdf5));
    dataset->records = dataset->layout.records = part.records;
    return pass_on(name, std::move(dataset));
  }

 private:
  Status pass_on(const OutputName& name, std::shared_ptr<Dataset> dataset) const {
    dataset->name = name.name;
    if (!dataset->extent) dataset->extent = owned_bytes({}, file_->name());
    return options_.on_block(name.name, std::move(dataset));
  }

  Source file_;
};

}  // namespace nmb
