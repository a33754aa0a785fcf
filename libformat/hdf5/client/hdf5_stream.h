// Defines the messages that nmb-hdf5 writes to its standard output. A message has the fields u32
// kind, u32 0, u64 length of the content, content. If the bytes of values in the HDF5 file differ
// from their bytes in the extent, nmb-hdf5 writes these values to the spool, and not into a
// message. The spool is a file whose descriptor nmb-hdf5 receives at its start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/status.h"

namespace nmb::hdf5 {

enum class Message : std::uint32_t {
  // Fields: u32 length and text of the name, padding to a multiple of 8; u64 extent length; u64
  // length of the body, body; u64 number of places with references to deleted objects, and a text
  // for each; then the runs. A run has the fields u64 offset in the extent, u64
  // length, u64 offset in the source, u64 source.
  kBlock = 1,
  kDone = 2,  // last message: the command has succeeded
  // Last message: the command has failed. Fields: u32 Code; u64 offset; then three texts: the
  // file's name, the rule and the message. A text is a u32 length and the bytes.
  kFailure = 3,
};

enum class RunSource : std::uint64_t { kFile = 0, kSpool = 1 };

// Returns the content of a kFailure message. `status` must be a failure.
std::vector<std::byte> encode_failure(const Status& status);
// Returns the failure in a kFailure message, or kDamaged if `content` cannot be decoded.
Status decode_failure(std::span<const std::byte> content);

}  // namespace nmb::hdf5
