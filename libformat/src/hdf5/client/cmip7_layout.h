// Cmip7Layout chooses chunks and filters by the rules of CMIP7 for netCDF-4 files: time coordinates
// and their bounds in one chunk each or contiguous; chunks of other variables of at least 4 MiB of
// values, or one chunk; shuffle, deflate of level 4 and fletcher32. The values, the types and the
// attributes stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hdf5/model/hdf5_section.h"
#include "nmb/dataset.h"
#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

struct ChunkLayout {
  std::vector<std::uint64_t> chunk;
  std::vector<Filter> filters;
};

class Cmip7Layout {
 public:
  // Finds the time coordinates of a block and their bounds. Errors: kDamaged.
  NMB_EXPORT static Result<Cmip7Layout> of(const Dataset& block);

  // Returns the chunks of a variable. nullopt: the variable stays as it is stored, or, in a classic
  // dataset, it is contiguous. `properties`: those of the block. If the rules ask for chunks that
  // the variable cannot get, *why is the reason.
  NMB_EXPORT std::optional<ChunkLayout> chunks(const Dataset& block, VarId variable,
                                               std::span<const Property> properties,
                                               std::string* why) const;

 private:
  std::vector<bool> is_time_;  // by VarId: a time coordinate or its bounds
};

}  // namespace nmb::hdf5
