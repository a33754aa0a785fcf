// Originals: files that the next commit stores whole (spec/files.md, section 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "extent/data_map.h"
#include "origins/ordered_digest.h"
#include "origins/value_mover.h"
#include "ranks/writer_options.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

struct WriterCore;

struct StoredOriginal {
  NewOriginal what;
  Move move;  // copies the whole file; its position is 0 until end_define() chooses a position
  std::unique_ptr<OrderedDigest> digest;
  std::uint32_t number = 0;  // file number, from 1
  std::vector<Piece> pieces{};
  Place map{};
  std::uint64_t map_position = 0, map_space = 0;  // the space for the data map

  PieceForecast forecast(std::uint32_t piece_size) const {
    return {.count = (size() + piece_size - 1) / piece_size};
  }

  std::uint64_t size() const { return move.length; }
};

// Adds a file to the files that the next commit stores. Returns the index of the file in
// NextGeneration::originals. Not collective. Errors: kUsage outside define mode, or for an unknown
// block.
Result<std::uint32_t> add_original(WriterCore& w, NewOriginal original);

// --- steps of end_define() and of a commit; collective unless stated otherwise ---
// Chooses positions for new originals. All positions are after the values. Errors: kLimit.
Status place_originals(WriterCore& w);
// Determines the pieces of originals. Call this after the bytes were copied. Not collective.
void finish_originals(WriterCore& w);
// Writes the data maps of originals, in the order of file numbers.
Status write_original_maps(WriterCore& w);
// Sends the file-table rows of this rank's originals to the first rank. Errors: kDamaged if a file
// does not have the digests given in NewOriginal.
Status send_originals(WriterCore& w);

}  // namespace nmb
