// InputDescriber: the inputs that a rank reads, described for the rank that unites their blocks:
// definitions that inputs share once, and of each input what differs (spec/rationale.md, "Merging
// by ranks").
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
#include "parallel/message_codec.h"
#include "wire/pooled_file.h"

namespace nmb {

// What is told of an input, in this order: its index, how it is described, and where it is the
// file's stamp and what was met, one after the other.
enum class DescribedAs : std::uint8_t {
  kNotOpened,  // with a status
  kNot,        // the other rank is to read it
  kBlocks,
};
enum class DescribedEvent : std::uint8_t { kGroup, kWarning, kConflict, kWhole, kPart, kEnd };
enum class DescribedValues : std::uint8_t {
  kNone,
  kAsBefore,  // those of the input's block before
  kFile,      // a range of the input
  kSent,      // by send_values()
};
// Blocks of an input, from the first, that are described by what differs from that of the same
// number of the input before.
inline constexpr std::size_t kComparedBlocks = 256;

class InputDescriber final : public BlockSink {
 public:
  // All must outlive this. room: bytes of values of all inputs that may be held, and again of
  // values that the other rank cannot read out of the inputs at once.
  InputDescriber(const PackOptions& options, ConflictList& conflicts, PackReport& report,
                 std::shared_ptr<SourcePool> views, std::uint64_t room)
      : options_(options),
        conflicts_(conflicts),
        report_(report),
        views_(std::move(views)),
        firsts_(options),
        held_room_(room),
        sent_room_(room) {}

  // Ahead of an input: what was told of it from now on is described.
  void begin();
  void begin_input(std::shared_ptr<const ByteSource> file) override;
  Status take_whole(const BlockName& name, InputBlock& block) override;
  Status take_part(const BlockName& name, BlockPart part) override;
  void note_group(const std::string& group);
  // Behind it. kUnsupported, kIo: of what is sent along.
  void end(const PlannedInput& input);
  // In place of begin() and end(): it is left to the other rank.
  void leave(std::size_t index);

  // Inputs with values that cannot be described are not worth reading.
  bool leaves_values() const { return leaves_values_; }
  std::size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return out_.take(); }

 private:
  // Of a block: its definitions, and the rest.
  struct Known {
    std::vector<std::byte> header, rest;
  };

  void tell_messages();
  Status put_block(DescribedEvent event, const BlockName& name, const BlockFacts& facts,
                   const UnionBlock& block);
  Status put_values(const std::shared_ptr<const ByteSource>& values, MessageWriter* rest);
  void put(DescribedEvent event, std::span<const std::byte> header,
           std::span<const std::byte> rest);

  const PackOptions& options_;
  ConflictList& conflicts_;
  PackReport& report_;
  const std::shared_ptr<SourcePool> views_;
  FirstValues firsts_;
  std::uint64_t held_room_, sent_room_;
  bool leaves_values_ = false;
  MessageWriter out_;
  std::vector<Known> known_;
  // The input that is described.
  MessageWriter input_;
  std::shared_ptr<const ByteSource> file_;
  std::shared_ptr<const ByteSource> values_;  // of the block before
  std::size_t blocks_ = 0, warnings_ = 0;
  bool is_left_ = false;
};

}  // namespace nmb
