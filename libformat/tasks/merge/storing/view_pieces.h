// Chooses pieces that an HDF5 view can show as chunks (spec/format.md, section 10.1;
// spec/hdf5_view.md, section 12.4).
#pragma once

#include <cstdint>
#include <vector>

#include "model/classic.h"
#include "model/metadata.h"

namespace nmb {

// A range of an extent that is encoded in pieces of equal length.
struct EqualPieces {
  std::uint64_t begin = 0, end = 0;  // offsets in the extent
  std::uint64_t piece = 0;           // length of a piece; divides the length of the range
};

// Returns a range for each variable and, in variables with records, for each record. The ranges
// ascend and do not overlap. Bytes outside of all ranges should not be encoded: small values, and
// values that cannot be divided into equal pieces of a suitable length. length: the length of the
// extent.
std::vector<EqualPieces> pieces_for_view(const Metadata& metadata, const ClassicLayout& layout,
                                         std::uint64_t records, std::uint64_t length,
                                         std::uint32_t piece_size);
// Returns how many of the first `length` bytes are in none of the ranges.
std::uint64_t bytes_outside(const std::vector<EqualPieces>& ranges, std::uint64_t length);

}  // namespace nmb
