// recode_values: the values of a block of kind 6 in other chunks, through other filters
// (spec/format.md, section 15.2).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/values.h"
#include "wire/spool_file.h"

namespace nmb {

struct RecodedBlock {
  std::vector<std::byte> body;  // of kind 6
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource> extent;
  bool has_zstd = false;  // among the filters of chunks that were coded anew
};

// The outcome of one chunk length that was asked for.
struct ChunkUse {
  bool is_known = false;    // a variable has the dimension
  bool is_cut = false;      // one has chunks of that length
  bool is_clipped = false;  // one has shorter ones, as its dimension is shorter and cannot grow
};

struct RecodeOptions {
  Compression compression;
  // As for netcdf_view(): whose names compression.chunk has.
  std::optional<std::int64_t> first_made_up{};
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
};

// Chunks, and arrays whose values have one length and that are larger than 64 KiB or have a
// dimension of compression.chunk, are coded anew into `spool`; the bytes do not depend on the
// number of threads. Values of variable length and those that were never written get the chunks
// that were asked for when HDF5 is written. Other variables stay as they are, and so do chunks with
// filters that are not decoded here: *left gets a line of each that could have been meant, with the
// reason. uses: as many as compression.chunk; what became of each is added. nullopt: nothing
// changes. block.extent is kept. Memory: chunks of 64 MiB together, or as many as there are
// threads. kDamaged: chunks that do not decode; kUsage: a chunk past 2^32 - 1 bytes; kIo; kNoSpace.
Result<std::optional<RecodedBlock>> recode_values(const Dataset& block,
                                                  const RecodeOptions& options,
                                                  std::shared_ptr<SpoolFile> spool,
                                                  std::vector<std::string>* left,
                                                  std::vector<ChunkUse>* uses);

}  // namespace nmb
