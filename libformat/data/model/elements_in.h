// Finds the elements of a variable whose values lie in a range of an extent.
#pragma once

#include <cstdint>
#include <optional>

#include "model/classic.h"
#include "model/metadata.h"
#include "wire/bytes.h"

namespace nmb {

// Elements of a variable. They are counted in the order in which they are stored; for a variable
// with records, from the first element of record 0.
struct ElementRange {
  std::uint64_t first = 0, count = 0;
};

// Returns the elements of a variable of which `range` has at least one byte, or nullopt if there
// are none. Padding does not count. range: offsets from the first value. records: number of records
// of the dataset.
std::optional<ElementRange> elements_in(const Metadata& metadata, const ClassicLayout& layout,
                                        std::uint64_t records, VarId id, ByteRange range);

}  // namespace nmb
