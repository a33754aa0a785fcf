// ChunkOrigins: where the chunks of a united variable come from. Finding the origins reads the
// chunk tables of the datasets, but no values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convert/chunk_region.h"
#include "merge/uniting/chunk_plan.h"
#include "values/chunk_grid.h"
#include "values/gathered_chunk.h"
#include "wire/failure.h"

namespace nmb {

struct ChunkOrigins {
  // A chunk that must be encoded, and a part that has some of its values.
  struct PartUse {
    std::uint64_t chunk;
    std::uint32_t part;  // index in UnitedVariable::parts and in `boxes`
    auto operator<=>(const PartUse&) const = default;
  };

  // For each chunk: the stored chunk with the same values, or nullopt if the chunk must be encoded.
  // StoredChunk::source is the index of the dataset.
  std::vector<std::optional<StoredChunk>> copied;
  std::vector<BoxInChunks> boxes;  // for each part; no table if the part's chunks cannot be used
  std::vector<PartUse> uses;       // ascending

  // Returns the parts whose chunks have the values of a chunk that must be encoded. Returns no
  // parts if the values must come from the united array: some parts are not in chunks, two parts
  // overlap, or the parts lack values of the chunk. grid: as for find_origins().
  std::span<const PartUse> parts_of(std::uint64_t chunk, const ChunkGrid& grid) const;
};

// chunking: how the variable is stored. grid: its chunks. extents: ChunkPlan::extents. Errors:
// kDamaged, kIo; kLimit if there are too many chunks.
Result<ChunkOrigins> find_origins(const UnitedVariable& variable, const Chunking& chunking,
                                  const ChunkGrid& grid, std::span<const Source> extents);

}  // namespace nmb
