// Originals: files that the next commit stores whole (spec/format.md, section 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/extent/data_map.h"
#include "nmb/bytes.h"
#include "nmb/status.h"
#include "nmb/writer.h"
#include "wire/place.h"
#include "writer/ordered_digest.h"
#include "writer/value_mover.h"

namespace nmb {

struct WriterCore;

struct StoredOriginal {
  NewOriginal what;
  Move move;  // of all bytes; position 0: end_define() has not placed it
  std::unique_ptr<OrderedDigest> digest;
  std::uint32_t number = 0;  // in the file table, from 1
  std::vector<Piece> pieces{};
  Place map{};

  std::uint64_t size() const { return move.length; }
};

// Adds a file to those that the next commit stores. Not collective. Errors: kUsage outside define
// mode, or for an unknown block.
Result<std::uint32_t> add_original(WriterCore& w, NewOriginal original);

// --- steps of end_define() and a commit; each is collective unless it says otherwise ---
// Places new originals after the values.
Status place_originals(WriterCore& w);
// After their bytes were moved: determines the pieces. Not collective.
void finish_originals(WriterCore& w);
// Writes the data maps, in the order of file numbers.
Status write_original_maps(WriterCore& w);
// Sends what the file table states of the originals to the first rank. Errors: kDamaged if a file
// has another digest than was given.
Status tell_originals(WriterCore& w);

}  // namespace nmb
