// ValuePlaces: where in the file the bytes of a block's extent lie (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nmb/status.h"
#include "reader/reader_core.h"

namespace nmb {

class ValuePlaces {
 public:
  // kUnsupported: pieces with a codec, or in other files; the message says which.
  static Result<ValuePlaces> of(const ReaderCore& core, const BlockEntry& entry);
  // The position of [offset, offset + length) of the extent, length not 0; 0: none of it is stored.
  // kUnsupported: in part, or not in one run.
  Result<std::uint64_t> find(std::uint64_t offset, std::uint64_t length) const;

  // Where what lies as the byte at `offset` does ends in the extent.
  std::uint64_t run_end(std::uint64_t offset) const;

 private:
  // Bytes of the extent that follow one another in the file, or are not stored (position 0).
  struct Run {
    std::uint64_t begin, end, position;
  };
  std::vector<Run> runs_;  // ascending, without gaps
};

}  // namespace nmb
