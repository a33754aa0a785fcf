#include "state/next_generation.h"

#include "wire/checked.h"
#include "wire/hash.h"

namespace nmb {

void NextGeneration::piece_died(const Piece& piece) {
  if (piece.file != 0) return;
  const std::uint64_t length = piece.stored_length();
  dead.push_back({piece.position, round_up(length, 8), piece.sum, length % 8 == 0});
}

Status NextGeneration::append(std::span<const std::byte> page) {
  NMB_TRY(out_.write_at(cursor, page));
  cursor += page.size();
  return {};
}

void NextGeneration::replaced(const Page& page) {
  dead.push_back({page.position(), page.bytes().size(), sum_of(page.bytes()), true});
}

void NextGeneration::dropped(const Place& place) {
  // Ignores a place outside the file (R-PG-18).
  const std::uint64_t end = committed_.file_length;
  if (place.position < kBodyStart || place.position > end || place.length > end - place.position)
    return;
  dead.push_back({place.position, round_up(place.length, 8), place.sum, place.length % 8 == 0});
}

void NextGeneration::begin_next() {
  dead.clear();
  originals.clear();
  view.reset();
  staying_growth.clear();
  slot_begun = false;
}

}  // namespace nmb
