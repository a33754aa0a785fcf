// recode_values: the values of a block of kind 6 in other chunks, through other filters
// (spec/format.md, section 15.2).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nmb/compression.h"
#include "nmb/dataset.h"
#include "wire/spool_file.h"

namespace nmb {

struct RecodedBlock {
  std::vector<std::byte> body;  // of kind 6
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource> extent;
};

struct RecodeOptions {
  Compression compression;
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
};

// Chunks, and arrays of more than 64 KiB whose values have one length, are coded anew into `spool`;
// the bytes do not depend on the number of threads. Other variables stay as they are, and so do
// chunks with filters that are not decoded here: *left gets a line of each of these. *used gets the
// places in compression.chunk by which a variable was cut. nullopt:
// nothing is coded anew. block.extent is kept. Memory: chunks of 64 MiB together, or as many as
// there are threads. kDamaged: chunks that do not decode; kUsage: a chunk past 2^32 - 1 bytes;
// kIo; kNoSpace.
Result<std::optional<RecodedBlock>> recode_values(const Dataset& block,
                                                  const RecodeOptions& options,
                                                  std::shared_ptr<SpoolFile> spool,
                                                  std::vector<std::string>* left,
                                                  std::set<std::size_t>* used);

}  // namespace nmb
