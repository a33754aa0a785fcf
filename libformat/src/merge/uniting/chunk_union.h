// Stores the values of a united dataset in chunks, if datasets of the union have chunks
// (spec/format.md, section 15.2). A chunk keeps its stored bytes if it lies in the united array
// where the chunks of that array lie; all other chunks are encoded again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/chunk_coder.h"
#include "merge/uniting/dataset_union.h"
#include "nmb/dataset.h"
#include "nmb/status.h"
#include "wire/spool_file.h"

namespace nmb {

// A united dataset as a block of kind 6 whose values are stored in chunks.
struct UnitedChunks {
  std::vector<std::byte> body;
  std::uint64_t extent_length = 0;
  Source extent;
  std::uint64_t moved = 0, encoded = 0;  // chunks that keep their bytes, and chunks that do not
};

// Returns nullopt if no dataset of the union has chunks of a variable that `all` has. united: the
// union. all: the result of take(). levels: for each dimension, see with_dimensions_above(). spool:
// receives the chunk tables and the encoded chunks. Errors: kDamaged, kLimit, kIo, kNoSpace.
Result<std::optional<UnitedChunks>> unite_chunks(const DatasetUnion& united, const Dataset& all,
                                                 const std::vector<std::uint32_t>& levels,
                                                 const CodingRules& rules,
                                                 const std::shared_ptr<SpoolFile>& spool);

}  // namespace nmb
