// BlockState: what a writer knows of one block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "extent/data_map.h"
#include "nmb/block_entry.h"
#include "nmb/classic_header.h"
#include "nmb/metadata.h"
#include "nmb/writer.h"
#include "writer/extent_origin.h"

namespace nmb {

// What the body of a block is encoded from.
enum class BodyFrom : std::uint8_t {
  kMetadata,   // a canonical header of `metadata`
  kSource,     // packed: the bytes of a source
  kOwnBytes,   // kept verbatim: a committed body under a new name
  kCommitted,  // in the file, unchanged
};

// Definitions and values as they were before a redefinition, until the values are in their new
// places.
struct OldContent {
  Metadata metadata;
  ClassicLayout layout;
  std::uint64_t records = 0;
  std::unique_ptr<ExtentState> extent;
};

// A block that several ranks define or have opened. Its keeper places it, writes it and knows all
// of its definitions; the others know their own, and where the values of those lie.
struct Sharing {
  struct Handle {
    int rank;
    BlockId id;  // on that rank
  };
  Handle keeper{0, 0};
  std::vector<Handle> others;  // known to the keeper: in order of ranks
  // While the keeper lays the block out: where the variables of those others are whose definitions
  // differ from its own.
  std::vector<std::pair<Handle, std::vector<VarId>>> places;
};

struct BlockState {
  // Metadata of the block: canonical begins after end_define. Null for blocks that are packed or
  // not looked at.
  std::unique_ptr<Metadata> metadata;
  ExtentOrigin values;
  std::unique_ptr<PackedBlock> packed;
  std::unique_ptr<OldContent> old;
  std::unique_ptr<BlockEntry> committed;  // the entry of the last generation
  std::unique_ptr<std::vector<std::byte>> own_body;
  std::unique_ptr<Sharing> sharing;  // null: this rank's alone
  ClassicLayout layout;

  // What the next commit writes; filled by end_define.
  std::uint64_t position = 0;
  std::uint64_t stored_length = 0, raw_length = 0;
  std::uint64_t body_sum = 0;
  Digest digest;
  std::uint64_t retained = kNotRetained;  // where the stored body lies in the writer's memory
  std::uint64_t dimensions = 0, variables = 0, attributes = 0;
  std::uint64_t records = 0, samples = 0, order = 0;
  // Of several ranks: names that come less names that go ahead of this one, by the last end_define.
  std::int64_t names_ahead = 0;
  // Of several ranks: the generation that all this is of. Another rank may have committed the block
  // since.
  std::uint64_t known_at = 0;
  std::uint64_t extent_length = 0;
  std::uint64_t run_position = 0;  // of the space set apart by end_define; 0: none
  bool inline_run = false;         // that space lies right behind the block

  BodyFrom body_from = BodyFrom::kMetadata;
  Kind kind = Kind::kCdf5;
  std::uint8_t codec = 0;
  bool kept = true;          // this rank places and writes it
  bool partial = false;      // metadata: only what this rank defined of a shared block
  bool pending = false;      // the next end_define encodes and places it
  bool header_dead = false;  // the committed block gives way to a new one or to none
  bool edited = false;       // definitions changed since the last end_define
  bool written = false;      // has a layout: end_define was called since it was defined
  bool dirty = false;        // the next commit has something to write of it
  bool removed = false;
  bool renamed = false;

  static constexpr std::uint64_t kNotRetained = ~std::uint64_t{0};
  bool is_new() const { return committed == nullptr; }
  // It comes with statistics or tags of another file.
  bool keeps_rows() const { return packed && packed->kept; }
};

}  // namespace nmb
