// NextGeneration: what the next commit will have changed: where free space begins, what dies, and
// what its superblock says. Definitions and puts add to it, the commit completes it, and after the
// commit an empty one takes its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/extent/file_table.h"
#include "format/page/page_sink.h"
#include "format/superblock/superblock.h"
#include "hdf5/view/view_encoder.h"
#include "writer/extent_state.h"
#include "writer/stripe_writer.h"

namespace nmb {

// Bytes of the file that no generation from the next one on uses.
struct DeadRange {
  std::uint64_t position, length;
  std::uint64_t sum;
  bool sum_known;
  bool abandoned = false;  // what lay behind the newest generation
};

// Growth rows of a block that stay when others are folded.
struct StayingGrowth {
  std::uint64_t order, growth, grown_records;
};

// Pages that are appended to it go to the file. Not thread-safe.
class NextGeneration final : public DeadPieces, public PageSink {
 public:
  NextGeneration(const Superblock& committed, StripeWriter& out)
      : committed_(committed), out_(out) {}

  std::uint64_t cursor = kBodyStart;  // where free space begins
  std::uint64_t order = 0;            // of the next block that is created
  std::vector<DeadRange> dead;
  std::vector<std::string> provenance;

  // --- of the commit ---
  Superblock superblock;
  std::uint64_t stamp = 0;
  bool folds_growth = false;        // growth pages are taken into maps and entries
  bool changes_entries = false;     // something else than growth pages changes
  std::optional<EncodedView> view;  // of rank 0
  std::vector<ExternalFile> files;  // rows of the file table, where it changes; of rank 0
  std::vector<StayingGrowth> staying_growth;
  std::uint64_t index_bytes = 0;
  bool slot_begun = false;  // nothing is cut off any more

  // DeadPieces
  void piece_died(const Piece& piece) override;
  // PageSink
  std::uint64_t next_position() const override { return cursor; }
  Status append(std::span<const std::byte> page) override;
  void replaced(const Page& page) override;
  void dropped(const Place& place) override;

  // It is committed; another begins.
  void begin_next();

 private:
  const Superblock& committed_;
  StripeWriter& out_;
};

}  // namespace nmb
