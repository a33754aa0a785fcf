// BlockEntry: the index's row of one block. Totals: its counts over many blocks (spec/format.md,
// sections 6 and 7).
#pragma once

#include <cstdint>
#include <string>

#include "nmb/bytes.h"

namespace nmb {

// The counts that the index keeps for every block, subtree and file.
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

struct BlockEntry {
  // Position, length and checksum of a structure of the file (spec/format.md, section 5).
  struct Place {
    std::uint64_t position = 0;
    std::uint64_t length = 0;
    std::uint64_t sum = 0;
    bool absent() const { return position == 0 && length == 0 && sum == 0; }
    friend bool operator==(const Place&, const Place&) = default;
  };

  std::string name;
  std::uint16_t kind = 0;
  std::uint16_t codec = 0;
  bool hole = false;                // the extent is not empty, but no byte of it is stored
  std::uint64_t position = 0;       // of the block's header
  std::uint64_t stored_length = 0;  // of the body, in bytes
  std::uint64_t raw_length = 0;
  Digest digest;                      // of the raw body
  std::uint64_t sum = 0;              // of header and name
  std::uint64_t extent_position = 0;  // 0: not in one run
  std::uint64_t extent_length = 0;
  std::uint64_t extent_sum = 0;
  std::uint64_t dimensions = 0;
  std::uint64_t variables = 0;
  std::uint64_t attributes = 0;
  std::uint64_t records = 0;
  std::uint64_t samples = 0;
  Place map;  // root page of the data map
  Place storage;
  std::uint64_t order = 0;
  std::uint64_t needs =
      0;  // bits of features that a reader must know to read the block (spec/format.md, section 13)
  // Bytes at the end of the extent whose pieces are listed in growth pages (section 10.4), and
  // their records. records and extent_length include them; the other fields do not.
  std::uint64_t growth = 0, grown_records = 0;

  Totals totals() const { return {1, dimensions, variables, attributes, records, samples}; }
  bool has_map() const { return map.position != 0; }
  // Bytes of the extent that position, sum, hole and map describe: all except growth.
  std::uint64_t settled_length() const { return extent_length - growth; }
};

// Samples of a block if no rule for counting them is given.
constexpr std::uint64_t default_samples(std::uint64_t variables) { return variables > 0 ? 1 : 0; }

}  // namespace nmb
