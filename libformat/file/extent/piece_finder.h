// PieceFinder finds the pieces of a block's extent. The block's entry gives the first pieces: the
// pieces of a data map, or one run, or a hole. Growth pages list all later pieces (spec/format.md,
// sections 10.1 and 10.4).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "extent/data_map.h"
#include "extent/growth.h"
#include "wire/block_entry.h"

namespace nmb {

// Not thread-safe, like DataMap.
class PieceFinder {
 public:
  // `file`, `external`, `superblock` and the rows of `growth` must outlive this object. `external`
  // may be nullptr (see DataMap).
  PieceFinder(const ByteSource& file, const ExternalFiles* external, const Superblock& superblock,
              const BlockEntry& entry, std::span<const GrowthRow> growth);

  // Visits the pieces that overlap [from, to), in ascending order. Stops at the first failure.
  Status for_each(std::uint64_t from, std::uint64_t to,
                  const std::function<Status(const Piece&)>& visit) const;
  Result<std::vector<Piece>> all() const;
  const DataMap& map() const { return map_; }
  bool has_map() const { return mapped_; }

 private:
  bool mapped_;
  Piece settled_;  // the extent without growth as one piece, if there is no data map
  std::span<const GrowthRow> growth_;
  DataMap map_;
};

}  // namespace nmb
