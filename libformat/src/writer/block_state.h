// BlockState: what a writer knows of one block, and how that changes.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/classic.h"
#include "nmb/metadata.h"
#include "nmb/writer.h"
#include "writer/body_origin.h"
#include "writer/extent_origin.h"

namespace nmb {

// The contents of the block's index entry after the next commit, except those about its values.
// end_define() fills it; puts add records.
struct NextEntry : BlockCounts, StoredBody {
  std::uint64_t body_sum = 0;
  std::uint64_t order = 0;
  std::uint64_t extent_length = 0;
  Kind kind = Kind::kCdf5;

  static NextEntry of(const BlockEntry& entry) {
    return {entry.counts(), entry.stored_body(), 0,
            entry.order,    entry.extent_length, static_cast<Kind>(entry.kind)};
  }
};

// Definitions and values from before a redefinition, kept until the values are in their new places.
struct OldContent {
  Metadata metadata;
  ClassicLayout layout;
  std::uint64_t records = 0;
  std::unique_ptr<ExtentState> extent;
};

// A block that several ranks define or have opened. Its keeper places it, writes it and knows all
// of its definitions; each other rank knows its own definitions and where their values are.
struct Sharing {
  struct Handle {
    int rank;
    BlockId id;  // on that rank
  };
  Handle keeper{0, 0};
  std::vector<Handle> others;  // known to the keeper, in the order of ranks
  // While the keeper lays the block out: where the variables are on other ranks whose definitions
  // differ from the keeper's.
  std::vector<std::pair<Handle, std::vector<VarId>>> places;
};

//            lay_out()            edit()
//   kDefined ---------> kLaidOut ---------> kEdited
//                          ^     <---------
//   take_entry() ----------+      lay_out()          any: remove() -> kRemoved
enum class BlockStage : std::uint8_t {
  kDefined,  // since the last end_define()
  kLaidOut,  // has a place in the file
  kEdited,   // has a place, but its definitions have changed since
  kRemoved,
};

// What happens to the committed entry of a block.
enum class EntryFate : std::uint8_t {
  kStays,     // or there is no such entry
  kReplaced,  // by a new block or by nothing
  kRenamed,   // the same entry under another name
};

struct BlockState {
  NextEntry next;
  BodyOrigin body;
  ExtentOrigin values;
  // Its begins are canonical after end_define(). Null for blocks that are packed or not opened.
  std::unique_ptr<Metadata> metadata;
  ClassicLayout layout;
  std::unique_ptr<BlockEntry> committed;  // the entry of the last generation
  std::unique_ptr<OldContent> old;        // for kEdited: set until the values have been copied
  std::unique_ptr<Sharing> sharing;       // null: only this rank has the block

  std::uint64_t retained = kNotRetained;  // where the stored body begins in WriterCore::retained
  // With several ranks, in the last end_define(): how many names that sort before this one were
  // added, minus those that were removed.
  std::int64_t names_ahead = 0;
  // With several ranks: the generation to which all members belong. Another rank may have committed
  // the block since.
  std::uint64_t known_at = 0;
  std::uint64_t run_position = 0;  // of the space that end_define() reserved; 0: none
  std::uint64_t run_length = 0;    // length of the extent at that time
  bool inline_run = false;         // the space follows the block immediately

  BlockStage stage = BlockStage::kDefined;
  EntryFate fate = EntryFate::kStays;
  bool kept = true;      // this rank places and writes it
  bool partial = false;  // metadata: only the definitions of this rank, of a shared block
  bool pending = false;  // the next end_define() encodes and places it
  bool dirty = false;    // the next commit writes something of it

  static constexpr std::uint64_t kNotRetained = ~std::uint64_t{0};

  bool is_new() const { return committed == nullptr; }
  bool is_laid_out() const { return stage == BlockStage::kLaidOut || stage == BlockStage::kEdited; }
  bool is_removed() const { return stage == BlockStage::kRemoved; }
  bool is_renamed() const { return fate == EntryFate::kRenamed; }
  bool body_stays() const { return std::holds_alternative<CommittedBody>(body); }
  // nullptr: it is not a packed block.
  PackedBlock* packed() const {
    const auto* const found = std::get_if<PackedBody>(&body);
    return found ? found->get() : nullptr;
  }
  // Returns whether it comes with statistics or tags of another file.
  bool keeps_rows() const { return packed() && packed()->kept; }

  // --- what happens to a block ---
  // The block is in the file; `entry` is that in the index of the generation.
  void take_entry(BlockEntry entry, std::uint64_t generation) {
    next = NextEntry::of(entry);
    committed = std::make_unique<BlockEntry>(std::move(entry));
    body = CommittedBody();
    values = ExtentOrigin(UnchangedValues());
    stage = BlockStage::kLaidOut;
    known_at = generation;
  }
  // Its definitions are packed: bytes of a source.
  void pack(std::unique_ptr<PackedBlock> block) {
    assert(stage == BlockStage::kDefined);
    metadata.reset();
    next.kind = block->kind;
    next.counts() = block->counts();
    next.extent_length = block->extent_length;
    body = std::move(block);
  }
  // Its definitions are about to change. `before` is kept until the values have been copied.
  void edit(std::unique_ptr<OldContent> before) {
    assert(stage == BlockStage::kLaidOut && metadata);
    old = std::move(before);
    body = EncodedBody();
    next.kind = Kind::kCdf5;
    stage = BlockStage::kEdited;
  }
  // end_define() has given it its place.
  void lay_out(std::uint64_t generation) {
    assert(!is_removed());
    pending = false;
    stage = BlockStage::kLaidOut;
    known_at = generation;
  }
  // The committed body gets another name and is copied byte for byte.
  void move_body(std::vector<std::byte> bytes) {
    assert(body_stays());
    body = std::make_unique<RenamedBody>(RenamedBody{std::move(bytes)});
  }
  void remove() {
    stage = BlockStage::kRemoved;
    values = ExtentOrigin(NoValues());
  }
  // Another rank may have committed it, so its keeper must be determined again.
  void forget_sharing() {
    sharing.reset();
    kept = true;
    run_position = 0;
    inline_run = false;
  }
  // A commit has written it. entry: of that generation; nullptr: `committed` already is this entry.
  void settle(std::unique_ptr<BlockEntry> entry, std::uint64_t generation) {
    if (entry) committed = std::move(entry);
    values.committed();
    body = CommittedBody();
    known_at = generation;
    run_position = 0;
    inline_run = false;
    retained = kNotRetained;
    sharing.reset();
    fate = EntryFate::kStays;
    dirty = false;
  }
};

}  // namespace nmb
