// BlockState: the state of one block in a writer, and the transitions between its stages.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/classic.h"
#include "model/metadata.h"
#include "origins/extent_origin.h"
#include "ranks/writer_options.h"
#include "state/body_origin.h"
#include "wire/block_entry.h"

namespace nmb {

// The fields of the block's index entry after the next commit, except the fields that describe the
// values. end_define() sets these fields; puts add records.
struct NextEntry : EntryFields, StoredBody {
  std::uint64_t body_sum = 0;
  Kind kind = Kind::kCdf5;

  static NextEntry of(const BlockEntry& entry) {
    return {entry.fields(), entry.stored_body(), 0, static_cast<Kind>(entry.kind)};
  }
};

// The ranks that share a block because all of them define it or have opened it. One rank, the
// primary, knows all definitions of the block, and places and writes the block. Each other rank
// knows only its own definitions and the places of their values.
struct Sharing {
  struct Handle {
    int rank;
    BlockId id;  // the block's ID on that rank
  };
  Handle primary{0, 0};
  std::vector<Handle>
      others;  // handles of the other ranks, in the order of ranks; set only on the primary
  // Ranks whose definitions differ from the primary's definitions. For each of these ranks: its
  // handle, and the IDs that its variables have in the united block. Used only while the primary
  // lays out the block.
  std::vector<std::pair<Handle, std::vector<VarId>>> places;
};

//            lay_out()            edit()
//   kDefined ---------> kLaidOut ---------> kEdited
//                          ^     <---------
//   take_entry() ----------+      lay_out()          any: remove() -> kRemoved
enum class BlockStage : std::uint8_t {
  kDefined,  // defined since the last end_define()
  kLaidOut,  // has a place in the file
  kEdited,   // has a place, but its definitions have changed since then
  kRemoved,
};

// The change that the next commit makes to the committed entry of a block.
enum class EntryChange : std::uint8_t {
  kStays,     // the committed entry stays, if there is one
  kReplaced,  // removes the entry; a new block may take its name
  kRenamed,   // gives the entry another name
};

// A block's definitions and values before a redefinition. The old values are kept until they have
// been copied to their new places.
struct OldContent {
  Metadata metadata;
  ClassicLayout layout;
  std::uint64_t records = 0;
  std::unique_ptr<ExtentState> extent;
  // For discard().
  NextEntry next;
  BodyOrigin body;
  EntryChange entry_change = EntryChange::kStays;
};

struct BlockState {
  NextEntry next;
  BodyOrigin body;
  ExtentOrigin values;
  // The block's definitions; null if the block is packed or not opened. After end_define(), the
  // offset `begin` of each variable is canonical. The caller may share them
  // (FileWriter::redefine_block()); then they do not change.
  std::shared_ptr<Metadata> metadata;
  ClassicLayout layout;
  std::unique_ptr<BlockEntry> committed;  // the block's entry in the newest generation
  // Set while the stage is kEdited and the values have not been copied yet.
  std::unique_ptr<OldContent> old;
  std::unique_ptr<Sharing> sharing;  // null if only this rank has the block

  // The caller knows that the names of this many first dimensions and variables in `metadata`
  // differ.
  std::uint32_t known_dims = 0, known_vars = 0;
  // Offset of the stored body in WriterCore::retained.
  std::uint64_t retained = kNotRetained;
  // With several ranks: among the names before the block's name, how many the last end_define()
  // added, minus how many it removed.
  std::int64_t names_ahead = 0;
  // With several ranks: the generation that this state describes. In a later generation, another
  // rank may have committed the block.
  std::uint64_t known_at = 0;
  // File position of the space that end_define() reserved for values; 0 if there is none.
  std::uint64_t run_position = 0;
  std::uint64_t run_length = 0;  // length of the extent when the space was reserved
  // Number of bytes after the block that end_define() reserved for a data map.
  std::uint64_t map_space = 0;
  bool inline_run = false;  // true if the reserved space follows the block immediately

  BlockStage stage = BlockStage::kDefined;
  EntryChange entry_change = EntryChange::kStays;
  bool kept = true;  // true if this rank places and writes the block
  // True if `metadata` contains only this rank's definitions of a shared block.
  bool partial = false;
  bool pending = false;  // true if the next end_define() encodes and places the block
  bool dirty = false;    // true if the next commit changes the block in the file
  bool touched = false;  // true if its values may wait for places (BlockSet::touched)

  static constexpr std::uint64_t kNotRetained = ~std::uint64_t{0};

  bool knows_names() const {
    return known_dims == metadata->dimension_count() && known_vars == metadata->variable_count();
  }
  bool is_new() const { return committed == nullptr; }
  bool is_laid_out() const { return stage == BlockStage::kLaidOut || stage == BlockStage::kEdited; }
  bool is_removed() const { return stage == BlockStage::kRemoved; }
  bool is_renamed() const { return entry_change == EntryChange::kRenamed; }
  bool body_stays() const { return std::holds_alternative<CommittedBody>(body); }
  // Returns nullptr if the block is not a packed block.
  PackedBlock* packed() const {
    const auto* const found = std::get_if<PackedBody>(&body);
    return found ? found->get() : nullptr;
  }
  // Returns whether the packed block has statistics or tags from another file.
  bool keeps_rows() const { return packed() && packed()->kept; }

  // --- transitions ---
  // Sets the state of a block that is in the file. `entry` is the block's index entry in
  // `generation`.
  void take_entry(BlockEntry entry, std::uint64_t generation) {
    next = NextEntry::of(entry);
    committed = std::make_unique<BlockEntry>(std::move(entry));
    body = CommittedBody();
    values = ExtentOrigin(UnchangedValues());
    stage = BlockStage::kLaidOut;
    entry_change = EntryChange::kStays;
    known_at = generation;
  }
  // Makes the block a packed block: its definitions are bytes of a source.
  void pack(std::unique_ptr<PackedBlock> block) {
    assert(stage == BlockStage::kDefined);
    metadata.reset();
    next.kind = block->kind;
    next.counts() = block->counts();
    next.extent_length = block->extent_length;
    body = std::move(block);
  }
  // Starts a change of the block's definitions. The old content, `before`, is kept until the values
  // have been copied.
  void edit(std::unique_ptr<OldContent> before) {
    assert(stage == BlockStage::kLaidOut && metadata);
    old = std::move(before);
    old->body = std::exchange(body, EncodedBody());
    next.kind = Kind::kCdf5;
    stage = BlockStage::kEdited;
  }
  // Takes back edit().
  void restore() {
    assert(stage == BlockStage::kEdited && old);
    metadata = std::make_shared<Metadata>(std::move(old->metadata));
    layout = old->layout;
    next = old->next;
    body = std::move(old->body);
    values = ExtentOrigin(PutValues(std::move(old->extent)));
    entry_change = old->entry_change;
    old.reset();
    pending = false;
    stage = BlockStage::kLaidOut;
  }
  // Records that the block has its place in the file. Called by end_define().
  void lay_out(std::uint64_t generation) {
    assert(!is_removed());
    pending = false;
    stage = BlockStage::kLaidOut;
    known_at = generation;
  }
  // Keeps the committed body for a renamed block: the body is copied byte for byte.
  void move_body(std::vector<std::byte> bytes) {
    assert(body_stays());
    body = std::make_unique<RenamedBody>(RenamedBody{std::move(bytes)});
  }
  void remove() {
    stage = BlockStage::kRemoved;
    sharing.reset();
    kept = true;
    values = ExtentOrigin(NoValues());
  }
  // Forgets the primary. Called if another rank may have committed the block after generation
  // `known_at`.
  void forget_sharing() {
    sharing.reset();
    kept = true;
    run_position = map_space = 0;
    inline_run = false;
  }
  // Updates the state after a commit has written the block. entry: the block's entry in
  // `generation`, or nullptr if `committed` already is this entry.
  void settle(std::unique_ptr<BlockEntry> entry, std::uint64_t generation) {
    if (entry) committed = std::move(entry);
    values.committed();
    body = CommittedBody();
    known_at = generation;
    run_position = map_space = 0;
    inline_run = false;
    retained = kNotRetained;
    sharing.reset();
    entry_change = EntryChange::kStays;
    dirty = false;
  }
};

}  // namespace nmb
