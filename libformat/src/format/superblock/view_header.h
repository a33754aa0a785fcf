// The header of an HDF5 view (spec/hdf5_view.md, section 1), and the generation that a view shows.
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
  std::uint64_t position = 0;    // of this header
  std::uint64_t generation = 0;  // that the view shows

  std::array<std::byte, kSize> encode() const;
  // Returns the version of the view with these first bytes; 0: there is no header.
  static std::uint16_t version_of(std::span<const std::byte> first_bytes);
  // bytes: of version kViewVersion.
  static ViewHeader decode(std::span<const std::byte> bytes);
};

// Returns whether there is a view that shows the superblock's own generation: its HDF5 superblock
// ends where the generation does.
bool view_is_newest(const Superblock& superblock);

}  // namespace nmb
