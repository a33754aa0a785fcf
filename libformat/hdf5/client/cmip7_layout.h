// Cmip7Layout: chooses chunks and filters by the rules of CMIP7 for netCDF-4 files. Time
// coordinates and their bounds have one chunk each or are contiguous; other variables have chunks
// of at least 4 MiB of values, or one chunk. The filters are shuffle, deflate of level 4 and
// fletcher32. Values, types and attributes do not change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"
#include "model/extension.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

struct ChunkLayout {
  std::vector<std::uint64_t> chunk;
  std::vector<Filter> filters;
};

class Cmip7Layout {
 public:
  // Finds the time coordinates of a block and their bounds. Errors: kDamaged.
  NMB_EXPORT static Result<Cmip7Layout> of(const Dataset& block);

  // Returns the chunks and filters of a variable, or nullopt if it does not get new chunks; in a
  // classic dataset, such a variable becomes contiguous. `properties` are the properties of the
  // block. If the rules ask for chunks that the variable cannot get, *why is set to the reason.
  NMB_EXPORT std::optional<ChunkLayout> chunks(const Dataset& block, VarId variable,
                                               std::span<const Property> properties,
                                               std::string* why) const;

 private:
  std::vector<bool>
      is_time_;  // by VarId: whether the variable is a time coordinate or the bounds of one
};

}  // namespace nmb::hdf5
