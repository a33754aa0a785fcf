// recode_values: writes the values of a block of kind 6 in other chunks or with other filters
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
  bool has_zstd = false;  // among the filters of chunks that were encoded again
};

// The outcome for one requested chunk length.
struct ChunkUse {
  bool is_known = false;    // a variable has the dimension
  bool is_cut = false;      // a variable has chunks of that length
  bool is_clipped = false;  // a variable has shorter chunks, because its dimension is shorter and
                            // cannot grow
};

struct RecodeOptions {
  Compression compression;
  // Like that of netcdf_view(), for the names in compression.chunk.
  std::optional<std::int64_t> first_made_up{};
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
};

// Encodes values again into `spool`: those in chunks, and arrays of values of fixed length that are
// larger than 64 KiB or have a dimension of compression.chunk. The bytes do not depend on the
// number of threads. Values of variable length and values that were never written get the requested
// chunks when HDF5 is written. Other variables stay as they are, and so do chunks with filters that
// NMB does not decode; for each such variable that the options cover, *left gets a line with the
// reason. uses: as many as compression.chunk; the outcome of each is added. nullopt: nothing
// changes. block.extent is kept. Memory: chunks of 64 MiB together, or as many chunks as there are
// threads. Errors: kDamaged if chunks cannot be decoded; kUsage for a chunk of more than 2^32 - 1
// bytes; kIo; kNoSpace.
Result<std::optional<RecodedBlock>> recode_values(const Dataset& block,
                                                  const RecodeOptions& options,
                                                  std::shared_ptr<SpoolFile> spool,
                                                  std::vector<std::string>* left,
                                                  std::vector<ChunkUse>* uses);

}  // namespace nmb
