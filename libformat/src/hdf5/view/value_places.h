// ValuePlaces finds where the bytes of a block's extent lie in the file (spec/format.md, section
// 10.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nmb/status.h"
#include "reader/reader_core.h"

namespace nmb {

class ValuePlaces {
 public:
  // Reads the pieces of a block. Errors: kUnsupported, with the reason, for pieces with a codec or
  // in other files.
  static Result<ValuePlaces> of(const ReaderCore& core, const BlockEntry& entry);
  // Returns where bytes [offset, offset + length) of the extent lie in the file, or 0 if none of
  // these bytes is stored. `length` must not be 0. Errors: kUnsupported if only some of the bytes
  // are stored, or if they are not contiguous.
  Result<std::uint64_t> find(std::uint64_t offset, std::uint64_t length) const;

  // Returns the end, in the extent, of the run that contains `offset`.
  std::uint64_t run_end(std::uint64_t offset) const;

 private:
  // Bytes of the extent that are contiguous in the file. If `position` is 0, the bytes are not
  // stored.
  struct Run {
    std::uint64_t begin, end, position;
  };
  std::vector<Run> runs_;  // ascending, without gaps
};

}  // namespace nmb
