// Encodes and decodes the header of an HDF5 view (spec/hdf5_view.md, section 1), which states the
// generation that the view shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/superblock/superblock.h"
#include "nmb/bytes.h"

namespace nmb {

inline constexpr std::uint16_t kViewVersion = 1;

struct ViewHeader {
  static constexpr std::size_t kSize = 64;

  Digest file_id;
  std::uint64_t position = 0;    // position of this header
  std::uint64_t generation = 0;  // generation that the view shows

  std::array<std::byte, kSize> encode() const;
  // Returns the version of a view that begins with `first_bytes`, or 0 if they are not the
  // beginning of a view.
  static std::uint16_t version_of(std::span<const std::byte> first_bytes);
  // Decodes a header of version kViewVersion.
  static ViewHeader decode(std::span<const std::byte> bytes);
};

// Returns whether there is a view that shows the superblock's own generation. In this case, the
// end-of-file address in the HDF5 superblock is the generation's file length.
bool view_is_newest(const Superblock& superblock);

}  // namespace nmb
