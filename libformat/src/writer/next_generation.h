// NextGeneration: what the next commit changes: where free space begins, which bytes become dead,
// and what its superblock states. Definitions and puts add to it, and the commit completes it;
// after the commit an empty one replaces it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/extent/file_table.h"
#include "format/page/page_sink.h"
#include "format/superblock/superblock.h"
#include "hdf5/view/view_encoder.h"
#include "writer/extent_state.h"
#include "writer/originals.h"
#include "writer/stripe_writer.h"

namespace nmb {

// Bytes of the file that neither the next generation nor later ones use.
struct DeadRange {
  std::uint64_t position, length;
  std::uint64_t sum;
  bool sum_known;
  bool abandoned = false;  // they followed the newest generation and belong to none
};

// Growth rows of a block that stay when others are folded.
struct StayingGrowth {
  std::uint64_t order, growth, grown_records;
};

// Pages that are appended to it are written to the file. Not thread-safe.
class NextGeneration final : public DeadPieces, public PageSink {
 public:
  NextGeneration(const Superblock& committed, StripeWriter& out)
      : committed_(committed), out_(out) {}

  std::uint64_t cursor = kBodyStart;  // where free space begins
  std::uint64_t order = 0;            // of the next block that is created
  std::vector<DeadRange> dead;
  std::vector<std::string> provenance;
  std::vector<StoredOriginal> originals;  // of this rank

  // --- of the commit ---
  Superblock superblock;
  std::uint64_t stamp = 0;
  bool folds_growth = false;        // growth is moved from growth pages to maps and entries
  bool changes_entries = false;     // the commit changes more than growth pages
  std::optional<EncodedView> view;  // on rank 0
  std::vector<ExternalFile> files;  // rows of the file table if it changes; on rank 0
  std::map<std::size_t, Place> original_maps;  // of new originals, by rows of `files`; on rank 0
  std::vector<StayingGrowth> staying_growth;
  std::uint64_t index_bytes = 0;
  bool slot_begun = false;  // the file is no longer truncated

  // DeadPieces
  void piece_died(const Piece& piece) override;
  // PageSink
  std::uint64_t next_position() const override { return cursor; }
  Status append(std::span<const std::byte> page) override;
  void replaced(const Page& page) override;
  void dropped(const Place& place) override;

  // Call this after the commit; starts an empty generation.
  void begin_next();

 private:
  const Superblock& committed_;
  StripeWriter& out_;
};

}  // namespace nmb
