// Verifies dead space (spec/writer.md, section 11).
#include "verify/nmb_verifier.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

// Checks the segments, from the newest to the oldest. The loop ends, because claim() refuses a
// segment that was claimed before.
void NmbVerifier::check_dead_space() {
  const Place& newest = superblock().dead_map;
  if (newest.absent()) return;
  const std::string object = "dead-space segment";
  if (newest.position == 0 || newest.length == 0) {
    all_walked_ = false;
    return;  // R-SB-9 is reported
  }
  if (is_old(newest)) return;
  Place place = newest;
  std::uint64_t placed_at = field(in_superblock::kDeadMap);
  std::uint64_t above = 0;  // generation of the segment that refers to this segment
  for (bool first = true;; first = false) {
    auto bytes = read_page_bytes(PageUse::kDead, place.position, place.length, placed_at, object);
    if (!bytes) return;
    if (const std::uint64_t sum = first ? sum_of(*bytes) : place.sum; sum != place.sum) {
      report("R-SB-9", field(in_superblock::kDeadMap), object, sum_text(sum), sum_text(place.sum));
      all_walked_ = false;
      return;
    }
    PageExpectation expect = expectation(PageUse::kDead, place.position);
    if (!first) expect.sum = place.sum;
    const std::optional<Page> segment = decode_page(std::move(*bytes), expect);
    if (!segment) return;
    if (!first && segment->generation() >= above)
      report("R-DS-1", segment->position() + 56, object,
             joined_text("generation ", segment->generation()),
             joined_text("a generation less than ", above));
    above = segment->generation();
    const std::optional<Place> before = check_dead_rows(*segment);
    if (!before || is_old(*before)) return;
    placed_at = segment->value_offset(0, kPosition);
    place = *before;
  }
}

// Checks the rows of a segment. Returns the place of the previous (older) segment.
std::optional<Place> NmbVerifier::check_dead_rows(const Page& segment) {
  // If a segment has no position column, none of its rows contains a place. Such a segment may
  // state any number of rows, so only one row is checked.
  const std::uint32_t rows = segment.has(kPosition) ? segment.rows() : 1;
  std::optional<Place> before;
  bool any_abandoned = false;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const Place place{segment.value(row, kPosition), segment.value(row, kStoredLength),
                      segment.value(row, kSum)};
    const std::uint64_t state = segment.value(row, kState);
    if (state > kStateAbandoned) {
      report("R-DS-4", segment.value_offset(row, kState), "dead-space segment",
             joined_text("state ", state, " in row ", row), "0, 1 or 2");
      all_walked_ = false;
    } else if (state == kStatePageBefore) {
      // decode_page() has reported a wrong position (R-PG-18).
      if (row == 0 && place.position < segment.position())
        before = place;
      else
        all_walked_ = false;
    } else {
      if (state == kStateAbandoned) {
        check_abandoned(segment, row, !any_abandoned);
        any_abandoned = true;
      }
      ValueRange range{place.position, place.length, place.sum};
      range.rule = "R-DS-2";
      range.sum_at = segment.value_offset(row, kPosition);
      check_values(range, *range.sum_at, RegionKind::kDead);
    }
  }
  return before;
}

void NmbVerifier::check_abandoned(const Page& segment, std::uint32_t row, bool first) {
  const std::uint64_t at = segment.value_offset(row, kPosition);
  if (!first)
    return report("R-DS-3", at, "dead-space segment", "a second abandoned range", "at most one");
  if (segment.generation() == 1)
    return report("R-DS-3", at, "dead-space segment", "an abandoned range in generation 1", "none");
  // Finds the file length of the generation before that of the segment. If this length is unknown,
  // a violation of R-SB-10, R-SB-22 or R-PG-11 was reported.
  const std::uint64_t back = superblock().generation - segment.generation() + 1;
  if (segment.generation() > superblock().generation || back >= file_lengths_.size()) return;
  const std::uint64_t length = file_lengths_[back];
  if (const std::uint64_t position = segment.value(row, kPosition); position != length)
    report("R-DS-5", at, "dead-space segment", joined_text("an abandoned range at ", position),
           joined_text("one at ", length, ", the end of the previous generation"));
}

}  // namespace nmb
