// Decodes the layout message of a data set in chunks (HDF5 File Format Specification 3.0, IV.A.2.i,
// versions 1 to 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nmb::hdf5 {

// The index that has the places of the chunks. The numbers are those of layout messages of version
// 4; 0 is the B-tree of version 1, which older messages use.
enum class ChunkIndex : std::uint8_t {
  kTree1 = 0,
  kSingleChunk = 1,
  kImplicit = 2,
  kFixedArray = 3,
  kExtensibleArray = 4,
  kTree2 = 5,
};

struct LayoutMessage {
  ChunkIndex index = ChunkIndex::kTree1;
  // Address of the index. For kSingleChunk and kImplicit, the address of the first chunk.
  std::uint64_t address = 0;
  std::vector<std::uint64_t> chunk;  // lengths of a chunk
  std::uint64_t element = 0;         // size of an element in bytes
  // The next members describe a single chunk with filters.
  bool is_filtered = false;
  std::uint64_t length = 0;  // number of stored bytes
  std::uint32_t mask = 0;    // as ChunkPlace::mask

  bool operator==(const LayoutMessage&) const = default;
};

// Returns nullopt if the message does not describe chunks, or has an unknown form.
std::optional<LayoutMessage> decode_layout_message(std::span<const std::byte> message);

}  // namespace nmb::hdf5
