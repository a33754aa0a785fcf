// Finds the elements of a variable that have values in a range of an extent.
#pragma once

#include <cstdint>
#include <optional>

#include "model/classic.h"
#include "model/metadata.h"
#include "wire/bytes.h"

namespace nmb {

// A range of a variable's elements, counted as they are stored; for a record variable, from the
// first element of record 0.
struct ElementRange {
  std::uint64_t first = 0, count = 0;
};

// Returns the elements of a variable that have at least one byte in `range`, or nullopt if there
// are none. Padding does not count. range: offsets from the first value. records: number of records
// of the dataset.
std::optional<ElementRange> elements_in(const Metadata& metadata, const ClassicLayout& layout,
                                        std::uint64_t records, VarId id, ByteRange range);

}  // namespace nmb
