// BlockCounts: the numbers of objects in a block. Totals: their sums over many blocks. The index
// has both, so counting reads nothing else.
#pragma once

#include <cstdint>

namespace nmb {

// Numbers of objects in a block.
struct BlockCounts {
  std::uint64_t dimensions = 0;
  std::uint64_t variables = 0;
  std::uint64_t attributes = 0;
  std::uint64_t records = 0;  // number of records; 0 without a record dimension
  std::uint64_t samples = 0;

  // Returns the BlockCounts part of a derived struct, so that all counts can be copied together.
  BlockCounts& counts() { return *this; }
  const BlockCounts& counts() const { return *this; }
  // Calls `visit` with each count. The order is that of the columns in the index.
  template <class Counts, class Visit>
  static void for_each(Counts& counts, Visit visit) {
    visit(counts.dimensions), visit(counts.variables), visit(counts.attributes);
    visit(counts.records), visit(counts.samples);
  }
  friend bool operator==(const BlockCounts&, const BlockCounts&) = default;
};

// Sums of the counts over all blocks of a subtree or a file.
struct Totals : BlockCounts {
  std::uint64_t blocks = 0;

  // A sum that does not fit stays at the greatest number.
  Totals& operator+=(const Totals& other) {
    const auto add = [](std::uint64_t& sum, std::uint64_t more) {
      sum = more > ~sum ? ~std::uint64_t{0} : sum + more;
    };
    add(blocks, other.blocks);
    add(dimensions, other.dimensions);
    add(variables, other.variables);
    add(attributes, other.attributes);
    add(records, other.records);
    add(samples, other.samples);
    return *this;
  }
  friend bool operator==(const Totals&, const Totals&) = default;
};

}  // namespace nmb
