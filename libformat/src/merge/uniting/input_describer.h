// InputDescriber: describes the inputs that a rank reads for the rank that unites their blocks:
// definitions that inputs share are sent once, and for each input what differs (spec/rationale.md,
// "Merging by ranks").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merge/reading/block_sink.h"
#include "merge/reading/planned_input.h"
#include "merge/reading/reopened_source.h"
#include "merge/reporting/conflict_list.h"
#include "merge/uniting/first_values.h"
#include "merge/uniting/union_block.h"
#include "nmb/merge.h"
#include "parallel/message_fields.h"
#include "wire/pooled_file.h"

namespace nmb {

// A description of an input consists of, in this order: its index, a DescribedAs and, for kBlocks,
// the file's stamp and a list of events.
enum class DescribedAs : std::uint8_t {
  kNotOpened,  // a status follows
  kNot,        // the other rank must read it
  kBlocks,
};
enum class DescribedEvent : std::uint8_t { kGroup, kWarning, kConflict, kWhole, kPart, kEnd };
enum class DescribedValues : std::uint8_t {
  kNone,
  kAsBefore,  // the values of the input's block before
  kFile,      // a range of the input
  kSent,      // in the form of send_values()
};
// This many blocks from the first of an input are described by their differences from the block
// with the same number in the input before.
inline constexpr std::size_t kComparedBlocks = 256;

class InputDescriber final : public BlockSink {
 public:
  // All arguments must outlive the object. room: how many bytes of values of all inputs may be
  // kept, and how many may be sent because the other rank cannot read them directly from the
  // inputs.
  InputDescriber(const PackOptions& options, ConflictList& conflicts, PackReport& report,
                 std::shared_ptr<SourcePool> views, std::uint64_t room)
      : options_(options),
        conflicts_(conflicts),
        report_(report),
        views_(std::move(views)),
        firsts_(options),
        held_room_(room),
        sent_room_(room) {}

  // Call this before an input: all calls after it are described.
  void begin();
  void begin_input(Source file) override;
  Status take_whole(const BlockName& name, InputBlock& block) override;
  Status take_part(const BlockName& name, BlockPart part) override;
  void note_group(const std::string& group);
  // Call this after an input. Errors: kUnsupported, kIo for values that are sent.
  void end(const PlannedInput& input);
  // Call this instead of begin() and end(): the input is left to the other rank.
  void leave(std::size_t index);

  // Returns whether some values cannot be described: reading such inputs here is not worthwhile.
  bool leaves_values() const { return leaves_values_; }
  std::size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return out_.take(); }

 private:
  // For a block: its definitions, and the rest.
  struct Known {
    std::vector<std::byte> header, rest;
  };

  void tell_messages();
  Status put_block(DescribedEvent event, const BlockName& name, const BlockFacts& facts,
                   const UnionBlock& block);
  Status put_values(const Source& values, FieldsOut* rest);
  void put(DescribedEvent event, std::span<const std::byte> header,
           std::span<const std::byte> rest);

  const PackOptions& options_;
  ConflictList& conflicts_;
  PackReport& report_;
  const std::shared_ptr<SourcePool> views_;
  FirstValues firsts_;
  std::uint64_t held_room_, sent_room_;
  bool leaves_values_ = false;
  FieldsOut out_;
  std::vector<Known> known_;
  // The description of the current input.
  FieldsOut input_;
  Source file_;
  Source values_;  // values of the block before
  std::size_t blocks_ = 0, warnings_ = 0;
  bool is_left_ = false;
};

}  // namespace nmb
