// Totals: the counts that the index keeps for every block, subtree and file (spec/format.md,
// section 7).
#pragma once

#include <cstdint>

namespace nmb {

struct Totals {
  std::uint64_t blocks = 0;
  std::uint64_t dimensions = 0;
  std::uint64_t variables = 0;
  std::uint64_t attributes = 0;
  std::uint64_t records = 0;
  std::uint64_t samples = 0;

  Totals& operator+=(const Totals& other) {
    blocks += other.blocks;
    dimensions += other.dimensions;
    variables += other.variables;
    attributes += other.attributes;
    records += other.records;
    samples += other.samples;
    return *this;
  }
  friend bool operator==(const Totals&, const Totals&) = default;
};

}  // namespace nmb
