// Verifies growth pages (spec/format.md, section 10.4).
#include "extent/needs.h"
#include "extent/piece_codec.h"
#include "verify/nmb_verifier.h"
#include "wire/joined_text.h"

namespace nmb {

void NmbVerifier::check_growth_pages() {
  const Place& place = superblock().growth;
  if (place.absent()) return;
  used_readonly_compatible_ |= kFeatureGrowth;
  const auto pages = check_chain(PageUse::kGrowth, place, field(in_superblock::kGrowth),
                                 "growth page", kMaxGrowthPages);
  growth_known_ = pages.has_value();
  if (!pages) return;
  for (const auto& page : *pages)
    growth_known_ = add_growth_page(page, &growth_, findings_) && growth_known_;
  all_walked_ = all_walked_ && growth_known_;
}

// Takes the growth rows of a block from growth_. Adds the records and values of these rows to the
// block's entry. Must be called before the other checks of the block.
void NmbVerifier::take_growth_of(const EntryRow& row) {
  whole_ = row.entry;
  grown_.clear();
  const auto found = growth_.find(row.entry.order);
  if (found == growth_.end()) return;
  grown_ = std::move(found->second);
  growth_.erase(found);
  grow(&whole_, grown_);
  grown_records_ += whole_.grown_records;
}

// Checks the growth rows of the current block and their pieces.
// first: number of pieces before the growth.
void NmbVerifier::check_growth(const EntryRow& row, std::uint64_t first) {
  if (grown_.empty()) return;
  check_growth_of(row.entry, grown_, superblock().piece_size, findings_);
  for (const GrowthRow& grown : grown_) {
    const Piece& piece = grown.piece;
    used_needs_ |= needs_of_piece(piece, false);
    const std::uint64_t codec = grown.page->value(grown.row, kCodec);
    const std::uint64_t stored = grown.page->value(grown.row, kStoredLength);
    ValueRange range{piece.position, stored, piece.sum};
    range.logical = piece.logical;
    range.piece = first++;
    range.rule = "R-GR-3";
    range.block = block_;
    range.sum_at = grown.at(kSum);
    range.codec_at = grown.at(kCodec);
    if (codec != 0 && is_piece_codec(codec) && is_piece_length(stored, piece.length) &&
        piece.length <= superblock().piece_size) {
      range.codec = piece.codec;
      range.raw_length = piece.length;
    }
    add_to_stamp(piece.position, piece.sum);
    check_values(range, grown.at(kPosition));
  }
}

// Checks that the block has a record dimension, and that its values end where its last record ends
// (R-GR-8, R-GR-9). The last growth row states the number of records and the end of the values.
void NmbVerifier::check_grown_length(std::uint64_t header_records, const ByteSource& body,
                                     const Metadata& metadata) {
  class Grown final : public Findings {
   public:
    void report(Finding finding) override {
      found |= finding.rule == "R-BK-12" || finding.rule == "R-BK-20" || finding.rule == "R-BK-21";
    }
    bool found = false;
  } grown;
  (void)check_body(
      whole_, header_records, body, [](Column) { return kNoOffset; }, grown);
  if (grown.found || !metadata.record_dimension())
    report(metadata.record_dimension() ? "R-GR-8" : "R-GR-9", grown_.back().at(kRecords),
           "growth of block \"" + whole_.name + "\"",
           joined_text(whole_.records, " records, but values that end at ", whole_.extent_length),
           metadata.record_dimension() ? "values that end where the last record ends"
                                       : "no growth, because the block has no record dimension");
}

void NmbVerifier::check_growth_without_blocks() {
  // If the growth pages are old, the blocks of their rows may have been skipped.
  if (!index_whole_ || is_old(superblock().growth)) return;
  for (const auto& [order, rows] : growth_)
    report("R-GR-5", rows.front().at(kOrder), "growth page", joined_text("order ", order),
           "the order of a block in the index");
}

}  // namespace nmb
