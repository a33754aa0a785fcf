// NextGeneration: collects the changes of the next commit, for example where free space begins, the
// dead bytes and the new superblock. Definitions and calls of put() add changes; the commit
// completes them, and begin_next() clears them after the commit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "extent/file_table.h"
#include "origins/extent_state.h"
#include "page/page_sink.h"
#include "ranks/stripe_writer.h"
#include "state/originals.h"
#include "superblock/superblock.h"
#include "view/view_encoder.h"

namespace nmb {

// Bytes of the file that neither the next generation nor a later generation uses.
struct DeadRange {
  std::uint64_t position, length;
  std::uint64_t sum;
  bool sum_known;
  // True if the bytes lie after the newest generation and belong to no generation.
  bool abandoned = false;

  template <class Fields>
  friend void fields(Fields& all, DeadRange& range) {
    all.small(range.position, range.length);
    all(range.sum, range.sum_known, range.abandoned);
  }
};

// A block whose growth rows stay when the growth of other blocks is folded.
struct StayingGrowth {
  std::uint64_t order, growth, grown_records;
};

// As a PageSink, writes appended pages to the file. Not thread-safe.
class NextGeneration final : public DeadPieces, public PageSink {
 public:
  NextGeneration(const Superblock& committed, StripeWriter& out)
      : committed_(committed), out_(out) {}

  std::uint64_t cursor = kBodyStart;  // file position where free space begins
  std::uint64_t order = 0;            // order of the next block that is created
  std::vector<DeadRange> dead;
  std::vector<std::string> provenance;
  std::vector<StoredOriginal> originals;  // the originals that this rank stores

  // --- set by the commit ---
  Superblock superblock;
  std::uint64_t stamp = 0;
  // True if the commit moves growth from growth pages to data maps and index entries.
  bool folds_growth = false;
  bool changes_entries = false;     // true if the commit changes more than growth pages
  ViewOptions view_options;         // on rank 0, if the commit makes a view
  ViewNumbers view_numbers;         // on rank 0: the numbers of the file's view
  std::optional<EncodedView> view;  // on rank 0
  std::vector<ExternalFile> files;  // rows of the file table if the table changes; only on rank 0
  // Data maps of new originals, by row of `files`; only on rank 0.
  std::map<std::size_t, Place> original_maps;
  std::vector<StayingGrowth> staying_growth;
  std::uint64_t index_bytes = 0;
  // Becomes true when the write of the superblock slot begins. If it is true, the file must not be
  // truncated.
  bool slot_begun = false;

  // DeadPieces
  void piece_died(const Piece& piece) override;
  // PageSink
  std::uint64_t next_position() const override { return cursor; }
  Status append(std::span<const std::byte> page) override;
  void replaced(const Page& page) override;
  void dropped(const Place& place) override;

  // Starts an empty generation. Must be called after the commit.
  void begin_next();

 private:
  const Superblock& committed_;
  StripeWriter& out_;
};

}  // namespace nmb
