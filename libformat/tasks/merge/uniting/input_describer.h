// InputDescriber: describes the inputs that a rank reads, for the rank that unites their blocks.
// Definitions that inputs share are sent once; for later inputs only differences are sent
// (spec/rationale.md, "Merging by ranks").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "files/pooled_file.h"
#include "merge/reading/input_outcome.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "merge/uniting/first_values.h"
#include "merge/uniting/union_input.h"
#include "parallel/message_fields.h"
#include "sources/late_values.h"

namespace nmb {

// A description of an input begins with the index of the input and a DescribedAs. For kBlocks, the
// file's stamp and a list of events follow.
enum class DescribedAs : std::uint8_t {
  kNotOpened,  // the input cannot be used; a status follows
  kNot,        // the receiving rank must read the input
  kBlocks,
};
enum class DescribedEvent : std::uint8_t { kGroup, kWarning, kConflict, kWhole, kPart, kEnd };
enum class DescribedValues : std::uint8_t {
  kNone,
  kAsBefore,  // the values of the input's previous block
  kFile,      // a range of the input
  kSent,      // in the form of send_values()
};
// Each of the first kComparedBlocks blocks of an input is described by its differences from the
// block at the same position in the previous input.
inline constexpr std::size_t kComparedBlocks = 256;

class InputDescriber final : public MergeSink, public MergeStep {
 public:
  // budget: how many bytes of values may be kept for all inputs. If the receiving rank cannot read
  // values from the inputs, the values are sent. At most `budget` bytes are sent in this way.
  InputDescriber(const MergeStep& step, std::shared_ptr<SourcePool> views, std::uint64_t budget)
      : MergeStep(step),
        views_(std::move(views)),
        firsts_(options_),
        held_budget_(budget),
        sent_budget_(budget) {}

  // Begins the description of an input: all following calls belong to it.
  void begin();
  void begin_input(Source file) override;
  Status take_whole(const OutputName& name, InputBlock& block) override;
  Status take_part(const OutputName& name, InputPart part) override;
  void note_group(const std::string& group);
  // Ends the description of an input.
  void end(const InputOutcome& input);
  // Makes the receiving rank read this input itself. Call this instead of end().
  void leave(std::size_t index);

  // Returns whether values of some input could not be described. In that case, this rank should not
  // read more inputs of the same kind.
  bool leaves_values() const { return leaves_values_; }
  std::size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return out_.take(); }

 private:
  // The description of a block. `header` has the definitions; `rest` has all other data.
  struct SentDescription {
    std::vector<std::byte> header, rest;
  };

  void add_messages();
  Status put_block(DescribedEvent event, const OutputName& name, const InputFacts& facts,
                   const UnionInput& block);
  Status put_values(const Source& values, FieldsOut* rest);
  void put(DescribedEvent event, std::span<const std::byte> header,
           std::span<const std::byte> rest);

  const std::shared_ptr<SourcePool> views_;
  FirstValues firsts_;
  std::uint64_t held_budget_, sent_budget_;
  bool leaves_values_ = false;
  FieldsOut out_;
  std::vector<SentDescription> known_;
  // Description of the current input.
  FieldsOut input_;
  Source file_;
  DimensionSelections selections_;  // in the blocks of this input
  Source values_;                   // values of the previous block
  std::size_t blocks_ = 0, warnings_ = 0;
  bool is_left_ = false;
};

}  // namespace nmb
