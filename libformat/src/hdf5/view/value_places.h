// ValuePlaces: the places in the file of the bytes of a block's extent (spec/format.md, section
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
  // Errors: kUnsupported for pieces with a codec or in other files; the message says which.
  static Result<ValuePlaces> of(const ReaderCore& core, const BlockEntry& entry);
  // Returns the position of [offset, offset + length) of the extent; length must not be 0. 0: none
  // of it is stored. Errors: kUnsupported if only a part is stored, or the bytes are not
  // contiguous.
  Result<std::uint64_t> find(std::uint64_t offset, std::uint64_t length) const;

  // Returns where the run that contains `offset` ends in the extent.
  std::uint64_t run_end(std::uint64_t offset) const;

 private:
  // Bytes of the extent that are contiguous in the file, or that are not stored (position 0).
  struct Run {
    std::uint64_t begin, end, position;
  };
  std::vector<Run> runs_;  // ascending, without gaps
};

}  // namespace nmb
