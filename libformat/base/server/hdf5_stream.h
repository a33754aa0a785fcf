// Defines the messages that nmb-hdf5 writes to its standard output: a MessageHead, and the content.
// Some values have other bytes in the extent than in the HDF5 file. They are written to the spool,
// a file whose descriptor nmb-hdf5 receives at its start. The command `decode` also reads messages,
// from the same descriptor, which is a socket (hdf5_filters.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/message_fields.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

enum class Message : std::uint32_t {
  kBlock = 1,    // GroupMessage, and then the body
  kDone = 2,     // last message: the command has succeeded
  kFailure = 3,  // last message: the command has failed; Status
  kUndo = 4,     // to the command `decode`: FilterRequest
};

struct MessageHead {
  Message kind;
  std::uint32_t reserved;
  std::uint64_t length;  // length of the content
};

enum class RunSource : std::uint64_t { kFile = 0, kSpool = 1 };

// Bytes of a block's extent: where they are in the HDF5 file or in the spool.
struct ExtentRun {
  std::uint64_t offset, length;  // range of the extent
  std::uint64_t source;          // offset in the source
  RunSource from;
};

struct GroupMessage {
  std::string name;
  std::uint64_t extent_length;
  std::vector<std::string> lost_references;  // objects with references to deleted objects
  std::vector<ExtentRun> runs;
};

template <class Fields>
void fields(Fields& all, GroupMessage& block) {
  all(block.name, block.extent_length, block.lost_references, block.runs);
}

// Returns the failure in a kFailure message, or kDamaged if `content` cannot be decoded.
Status decode_failure(std::span<const std::byte> content);

}  // namespace nmb::hdf5
