// Defines the layout of the head, the first 16 KiB of a file (spec/format.md, section 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nmb {

inline constexpr std::uint64_t kCoverPosition =
    0;  // the HDF5 superblock if the file has a view, otherwise a copy of the identity
inline constexpr std::uint64_t kMarkPosition = 256;
inline constexpr std::uint64_t kIdentityPosition = 512;
inline constexpr std::uint64_t kGuardPosition = 1024;
inline constexpr std::size_t kSlotUnit = 4096;
inline constexpr std::uint64_t kFirstSlot = 4096;
inline constexpr std::uint64_t kDictionaryPosition = 12288;
inline constexpr std::uint64_t kBodyStart = 16384;  // here blocks, extents and pages begin

// The first bytes of the magics of blocks, pages and superblocks. One of these structures begins
// directly after the head.
inline constexpr std::array<std::byte, 4> kStructureMagic{std::byte{0x89}, std::byte{'N'},
                                                          std::byte{'M'}, std::byte{'B'}};

// The HDF5 superblock in the cover of a file with a view.
inline constexpr std::uint64_t kHdf5Position = kCoverPosition;
inline constexpr std::size_t kHdf5Size = 48;

// An HDF5 signature with a superblock version that does not exist. HDF5 programs that search for a
// superblock stop here.
inline constexpr std::array<std::byte, 16> kGuard{
    std::byte{0x89}, std::byte{'H'},  std::byte{'D'},  std::byte{'F'}, std::byte{0x0D},
    std::byte{0x0A}, std::byte{0x1A}, std::byte{0x0A}, std::byte{0xFF}};

}  // namespace nmb
