// SelectedValues: the values of an array at selected indexes of each dimension.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sources/value_source.h"
#include "wire/bytes.h"

namespace nmb {

// `count` indexes of a dimension, at least one: first, first + stride, first + 2 * stride, ...
struct IndexRun {
  std::uint64_t first = 0, count = 0, stride = 1;
  bool operator==(const IndexRun&) const = default;
};

// The selected indexes of a dimension, in the order that they have in the result.
using IndexRuns = std::vector<IndexRun>;

inline std::uint64_t count_of(const IndexRuns& runs) {
  std::uint64_t count = 0;
  for (const IndexRun& run : runs) count += run.count;
  return count;
}

// The result is in row-major order, without gaps. Reads the source only where values are selected,
// and gaps of up to 4 KiB between them. Thread-safe.
struct SelectedValues {
  struct Axis {
    std::uint64_t step = 0;  // distance in bytes between successive indexes in the source
    IndexRuns runs;
  };

  Source source;
  std::uint64_t begin = 0;       // offset in the source of the value at index 0 of each dimension
  std::uint64_t value_size = 0;  // size of a value in bytes
  std::vector<Axis> axes;        // slowest dimension first

  std::uint64_t size() const;
  const std::string& name() const { return source->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
};

}  // namespace nmb
