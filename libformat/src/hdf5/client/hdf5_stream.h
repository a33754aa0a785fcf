// What `nmb-hdf5 import` tells on its standard output: messages, each u32 kind, u32 0, u64 length
// of its content, content. Values that do not lie in the HDF5 file as they are go to the spool, a
// file whose descriptor it is given.
#pragma once

#include <cstdint>

namespace nmb::hdf5 {

enum class Message : std::uint32_t {
  // u32 length and text of the name, padding to 8; u64 extent length; u64 length of the body, body;
  // runs: u64 offset in the extent, u64 length, u64 offset in its source, u64 source.
  kBlock = 1,
  kDone = 2,     // the last one: all blocks were told
  kFailure = 3,  // the last one: u32 Code, text
};

enum class RunSource : std::uint64_t { kFile = 0, kSpool = 1 };

// Exit code of `nmb-hdf5 export`: there is no room for what it makes.
inline constexpr int kNoSpaceExit = 3;

}  // namespace nmb::hdf5
