// The places of values in the extent of an extended body (spec/extended.md, section 15), the same
// for all writers.
#pragma once

#include <cstdint>

#include "model/extension.h"
#include "wire/checked.h"

namespace nmb {

// Returns where a region begins in an extent that ends at `end`: at the next multiple of 8.
constexpr std::uint64_t region_begin(std::uint64_t end) { return round_up(end, 8); }

// Returns where the values of the next variable begin in an extent that ends at `end`. A table of
// chunks begins like a region that has bytes, even if the table is empty. A plain array has no
// padding before it, because padding would take a row of its own in the data map if the array lies
// in an original. storage: the variable's entry in the storage section, or nullptr.
inline std::uint64_t value_begin(std::uint64_t end, const Storage* storage) {
  const bool has_region =
      storage && (storage->kind == StorageKind::kChunked ||
                  (storage->kind == StorageKind::kHeap && storage->region_length > 0));
  return has_region ? region_begin(end) : end;
}

}  // namespace nmb
