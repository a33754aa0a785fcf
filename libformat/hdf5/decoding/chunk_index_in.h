// Reads the places of chunks from the bytes of the file (HDF5 File Format Specification 3.0,
// sections III.A and VII: B-trees of version 1 and 2, single chunks, implicit indexes, fixed arrays
// and extensible arrays). The HDF5 library 1.10 needs one call for each chunk, and the time of a
// call grows with the number of chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decoding/file_bytes.h"
#include "decoding/layout_message_in.h"

namespace nmb::hdf5 {

struct ChunkPlace {
  std::uint64_t number = 0;              // index of the chunk in row-major order
  std::uint64_t offset = 0, length = 0;  // position and length in the file, in bytes
  std::uint32_t mask = 0;  // filter mask: a set bit means that the filter was not applied

  bool operator==(const ChunkPlace&) const = default;
};

struct ChunkShape {
  std::span<const std::uint64_t> lengths;  // lengths of the data set's dimensions
  std::span<const std::uint64_t> maximum;  // maximum lengths, or kUnlimitedLength
  std::span<const std::uint64_t> chunk;    // lengths of a chunk, each at least 1
  bool has_filters = false;
};

// Returns the places of all `count` chunks, in the order of their numbers. Returns nullopt if the
// index has an unexpected form or a wrong checksum, if it does not have `count` chunks, or if a
// chunk is outside the shape or the file. Reads at most as many bytes as the file has.
std::optional<std::vector<ChunkPlace>> read_chunk_index(const FileBytes& file,
                                                        const LayoutMessage& layout,
                                                        const ChunkShape& shape,
                                                        std::uint64_t count);

}  // namespace nmb::hdf5
