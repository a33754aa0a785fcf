// BlockEntry: the row of one block in the index, and the columns of its fields (spec/format.md,
// sections 6 and 7).
#pragma once

#include <cstdint>
#include <string>

#include "nmb/counts.h"
#include "wire/bytes.h"
#include "wire/column.h"

namespace nmb {

// The position of a block in the file, and the form in which its body is stored.
struct StoredBody {
  std::uint64_t position = 0;       // position of the block's header in the file
  std::uint64_t stored_length = 0;  // number of bytes of the body in the file
  std::uint64_t raw_length = 0;
  Digest digest;  // digest of the raw (decoded) body
  std::uint16_t codec = 0;

  // Returns the StoredBody part of a derived struct, so that its members can be copied together.
  StoredBody& stored_body() { return *this; }
  const StoredBody& stored_body() const { return *this; }
};

// The fields of an entry that do not depend on where the block is stored.
struct EntryFields : BlockCounts {
  std::uint64_t order = 0;
  std::uint64_t extent_length = 0;

  // Returns the EntryFields part of a derived struct, so that all fields can be copied together.
  EntryFields& fields() { return *this; }
  const EntryFields& fields() const { return *this; }
};

struct BlockEntry : EntryFields, StoredBody {
  // Position, length and checksum of a structure in the file (spec/format.md, section 5).
  struct Place {
    std::uint64_t position = 0;
    std::uint64_t length = 0;
    std::uint64_t sum = 0;
    bool absent() const { return position == 0 && length == 0 && sum == 0; }
    friend bool operator==(const Place&, const Place&) = default;
  };

  std::string name;
  std::uint16_t kind = 0;
  bool hole = false;                  // the extent is not empty, but no byte of it is stored
  std::uint64_t sum = 0;              // checksum of header and name
  std::uint64_t extent_position = 0;  // 0 if the extent is not stored in one contiguous range
  std::uint64_t extent_sum = 0;
  Place map;  // root page of the data map
  // Bits of the features that a reader must know to read the block (spec/format.md, section 13).
  std::uint64_t needs = 0;
  // Digests of the classic file that became the block (spec/files.md, section 10.5). They describe
  // the raw body and, after it, the extent without the pieces of growth pages.
  FileDigests file_digests;
  // Growth pages list the last pieces of the extent (spec/format.md, section 10.4). `growth` is the
  // number of bytes in the pieces of growth pages, and `grown_records` is the number of records in
  // them. `extent_length` includes `growth`, and `records` includes `grown_records`. No other field
  // describes the pieces of growth pages.
  std::uint64_t growth = 0, grown_records = 0;

  Totals totals() const { return {counts(), 1}; }
  bool has_map() const { return map.position != 0; }
  // Returns the length of the extent without the bytes that `growth` counts. The fields
  // `extent_position`, `extent_sum`, `hole` and `map` describe only this part of the extent.
  std::uint64_t settled_length() const { return extent_length - growth; }
};

// The columns of BlockCounts, in the order of BlockCounts::for_each().
inline constexpr Column kCountColumns[] = {kDimensions, kVariables, kAttributes, kRecords,
                                           kSamples};
static_assert(sizeof(BlockCounts) ==
              sizeof(kCountColumns) / sizeof(Column) * sizeof(std::uint64_t));

// Calls visit(column, count) with each count.
template <class Counts, class Visit>
void for_each_count(Counts& counts, Visit visit) {
  const Column* column = kCountColumns;
  BlockCounts::for_each(counts, [&](auto& count) { visit(*column++, count); });
}

// Calls visit(column, field) for each field of an entry that the index stores, except the name. A
// place and the digests of a file have three columns, of which `column` is the first. `hole` is a
// bit of its column.
template <class Entry, class Visit>
void for_each_field(Entry& e, Visit visit) {
  visit(kKind, e.kind);
  visit(kCodec, e.codec);
  visit(kFlags, e.hole);
  visit(kPosition, e.position);
  visit(kStoredLength, e.stored_length);
  visit(kRawLength, e.raw_length);
  visit(kDigest, e.digest);
  visit(kSum, e.sum);
  visit(kExtentPosition, e.extent_position);
  visit(kExtentLength, e.extent_length);
  visit(kExtentSum, e.extent_sum);
  for_each_count(e, visit);
  visit(kMapPosition, e.map);
  visit(kFileDigest, e.file_digests);
  visit(kOrder, e.order);
  visit(kNeeds, e.needs);
}

// Returns the number of samples of a block if no rule for counting samples is given.
constexpr std::uint64_t default_samples(std::uint64_t variables) { return variables > 0 ? 1 : 0; }

// An object of a block, by its number in the block.
struct CountedObject {
  BlockEntry entry;
  std::uint64_t number = 0;
};

}  // namespace nmb
