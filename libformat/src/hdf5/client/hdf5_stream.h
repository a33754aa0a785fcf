// The messages that nmb-hdf5 writes to its standard output: u32 kind, u32 0, u64 length of the
// content, content. Values that the HDF5 file does not store in the same form go to the spool, a
// file whose descriptor the process gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/status.h"

namespace nmb::hdf5 {

enum class Message : std::uint32_t {
  // u32 length and text of the name, padding to 8; u64 extent length; u64 length of the body, body;
  // runs: u64 offset in the extent, u64 length, u64 offset in its source, u64 source.
  kBlock = 1,
  kDone = 2,  // the last message: the command has succeeded
  // The last message: u32 Code; u64 offset; u32 length and text of the file's name, of the rule and
  // of the message.
  kFailure = 3,
};

enum class RunSource : std::uint64_t { kFile = 0, kSpool = 1 };

// Returns the content of kFailure; status: not ok.
std::vector<std::byte> encode_failure(const Status& status);
// Returns the failure; kDamaged if the content cannot be decoded.
Status decode_failure(std::span<const std::byte> content);

}  // namespace nmb::hdf5
