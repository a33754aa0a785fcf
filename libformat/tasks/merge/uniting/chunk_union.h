// Stores the values of a united dataset in chunks (spec/extended.md, section 15.2), as
// merge/uniting/chunk_plan.h and merge/uniting/chunk_origins.h decide. If a stored chunk has the
// same values as a chunk of the united array, the stored bytes are copied. All other chunks are
// encoded again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/chunk_region.h"
#include "convert/recode.h"
#include "files/spool_file.h"
#include "merge/uniting/dataset_union.h"
#include "model/dataset.h"
#include "wire/failure.h"

namespace nmb {

// A united dataset as a block of kind 6 whose values are stored in chunks.
struct UnitedChunks {
  std::vector<std::byte> body;
  std::uint64_t extent_length = 0;
  Source extent;
  WantedChunks wanted;  // how the requested compression was used
};

struct ChunkUnionOptions {
  CodingRules coding;
  // The requested chunk lengths and filters. nullptr: each variable keeps its chunk lengths and
  // filters.
  const Compression* compression = nullptr;
  // Whether values are stored in chunks although no dataset of the union has chunks.
  bool is_forced = false;
  // Whether arrays without chunks keep little-endian values although no dataset has chunks.
  bool keeps_byte_order = false;
  // Arrays of at most this size, in bytes, are not compressed unless they may grow or have chunks.
  std::uint64_t small_array = kSmallArray;
  // Whether only definitions are needed. The chunks then have no bytes.
  bool without_values = false;
};

// Stores the values of `all` in chunks. Without options.is_forced, returns nullopt if no variable
// of `all` has chunks in any dataset of the union. `united` is the union. `all` is the result of
// united.take(). `levels` has one number for each dimension (see with_dimensions_above()). `*spool`
// receives the chunk tables and the encoded chunks; it is created if it is nullptr and needed.
// Errors: kDamaged, kIo, kNoSpace; kLimit for chunks of 4 GiB or more.
Result<std::optional<UnitedChunks>> unite_chunks(const DatasetUnion& united, const Dataset& all,
                                                 const std::vector<std::uint32_t>& levels,
                                                 const ChunkUnionOptions& options,
                                                 std::shared_ptr<SpoolFile>* spool);

}  // namespace nmb
