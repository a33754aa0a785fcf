// DescribedInputs: processes the input descriptions that other ranks send, as if this rank had read
// the inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "merge/reading/input_outcome.h"
#include "merge/reporting/merge_step.h"
#include "merge/uniting/sent_values.h"
#include "merge/uniting/union_builder.h"
#include "parallel/message_fields.h"

namespace nmb {

class DescribedInputs : public MergeStep {
 public:
  struct Uses {
    std::function<void(const std::string& group)> note_group;
    std::function<Status(std::size_t index)> read;  // reads an input that is not described
    // Called after each input. If this function fails, take() stops with the error.
    std::function<Status(InputOutcome input)> end;
  };

  // `unions` must outlive the object.
  DescribedInputs(const MergeStep& step, UnionBuilder& unions, ReceivedFrom from, Uses uses)
      : MergeStep(step), unions_(unions), from_(std::move(from)), uses_(std::move(uses)) {}

  // Processes a result of InputDescriber::take() on another rank. The results of each rank must be
  // passed in the order in which the rank made them.
  Status take(int rank, std::span<const std::byte> description);

 private:
  // The description of the previous input's block at the same index.
  struct PreviousDescription {
    std::vector<std::byte> header, rest;
    std::shared_ptr<const Metadata> metadata;
  };
  using KnownInput = std::vector<PreviousDescription>;

  Status take_input(std::size_t index, KnownInput* known, FieldsIn* message);
  Status take_block(bool is_whole, bool is_wanted, PreviousDescription* known, FieldsIn* in);
  Result<Source> values_of(FieldsIn* in);

  UnionBuilder& unions_;
  const ReceivedFrom from_;
  const Uses uses_;
  std::map<int, KnownInput> known_;  // blocks of the previous input, by rank
  // The current input.
  Source file_;
  Source values_;  // values of the previous block
  std::map<std::string, std::shared_ptr<SentFile>> sent_files_;
};

}  // namespace nmb
