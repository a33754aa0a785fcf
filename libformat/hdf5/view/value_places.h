// ValuePlaces finds where the bytes of a block's extent lie in the file (spec/format.md, section
// 10.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/reader_core.h"
#include "wire/failure.h"

namespace nmb {

class ValuePlaces {
 public:
  // Reads the pieces of a block. of_copy: the places are those in a copy of the file, in which
  // stored values are contiguous. A position other than 0 then only means that the bytes are
  // stored. Errors: kUnsupported, with the reason, if a piece lies in another file.
  static Result<ValuePlaces> of(const ReaderCore& core, const BlockEntry& entry, bool of_copy);
  // Returns where bytes [offset, offset + length) of the extent lie in the file, or 0 if none of
  // these bytes is stored. `length` must not be 0. Errors: kUnsupported if only some of the bytes
  // are stored, if the bytes are not contiguous in the file, or if they are coded.
  Result<std::uint64_t> find(std::uint64_t offset, std::uint64_t length) const;

  bool has_coded() const { return has_coded_; }  // whether a piece is coded
  // Returns the length of the first coded piece that begins in [offset, offset + length), or 0 if
  // there is none.
  std::uint64_t coded_length(std::uint64_t offset, std::uint64_t length) const;
  struct Stored {
    std::uint64_t position = 0;  // 0 if the bytes are not stored
    std::uint64_t length = 0;    // number of stored bytes
    bool is_coded = false;       // the bytes are one deflate stream
  };
  // Returns where bytes [offset, offset + length) of the extent are stored. Errors: those of
  // find(); kUnsupported also if the bytes are coded, but are not exactly one piece with deflate.
  Result<Stored> find_chunk(std::uint64_t offset, std::uint64_t length) const;

  // Returns the offset in the extent at which the run that contains `offset` ends.
  std::uint64_t run_end(std::uint64_t offset) const;

 private:
  // Bytes of the extent that are contiguous in the file. If `position` is 0, the bytes are not
  // stored. A coded piece is a run of its own.
  struct StoredRun {
    std::uint64_t begin, end, position;
    PieceCodec codec = PieceCodec::kNone;
    std::uint64_t stored_length = 0;  // of a coded piece
  };
  std::vector<StoredRun>::const_iterator run_of(std::uint64_t offset) const;
  std::vector<StoredRun> runs_;  // ascending, without gaps
  bool has_coded_ = false;
};

}  // namespace nmb
